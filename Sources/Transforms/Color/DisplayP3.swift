import NIOCore

extension Chromaticities {
    /// The primaries of Display P3 (SMPTE EG 432-1), with the white of sRGB.
    static let p3 = Chromaticities(red: [0.68, 0.32], green: [0.265, 0.69], blue: [0.15, 0.06])
}

extension ColorSpace {
    var isDisplayP3: Bool { curve == .sRGB && matrix(to: .p3) == nil }

    /// Whether a primary is visibly outside of sRGB.
    var exceedsSRGB: Bool { toXYZ.exceedSRGB }
}

extension ColorMatrix {
    /// Whether a color of these primaries, given in XYZ, takes less than no red, green or blue of sRGB.
    var exceedSRGB: Bool {
        guard let matrix = ColorSpace(toXYZ: self, curve: .sRGB).matrix(to: .bt709) else { return false }
        return [matrix.red, matrix.green, matrix.blue].contains { $0.min() < -0.02 }
    }
}

extension ICCProfile {
    /// A profile of Display P3 in 492 bytes (ICC.1:2022, §8.3): primaries, white, and one curve for all channels.
    static let displayP3: ByteBuffer = {
        let primaries = Chromaticities.p3.toXYZ.map { [$0.red, $0.green, $0.blue] } ?? []
        let white = SIMD3(0.9642, 1, 0.8249)
        // From the white of sRGB to the white of profiles (annex E).
        let adaptation = [1.047_88, 0.022_92, -0.050_22, 0.029_59, 0.990_48, -0.017_07, -0.009_25, 0.015_08, 0.751_68]
        let curve = [2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.040_45]
        let parameters = ByteBuffer(bytes: [0, 3, 0, 0])
        var tags: [(names: [String], data: ByteBuffer)] = [
            (["desc"], text("Display P3")), (["cprt"], text("CC0")), (["wtpt"], data("XYZ ", fixed(white))),
            (["chad"], data("sf32", fixed(adaptation))),
        ]
        tags += zip(["rXYZ", "gXYZ", "bXYZ"], primaries).map { ([$0], data("XYZ ", fixed($1))) }
        tags.append((["rTRC", "gTRC", "bTRC"], data("para", parameters, fixed(curve))))
        return file(tags)
    }()

    /// A display profile of version 4 for red, green and blue with these tags (§7.2, §7.3).
    private static func file(_ tags: [(names: [String], data: ByteBuffer)]) -> ByteBuffer {
        var (table, contents) = (ByteBuffer(), ByteBuffer())
        let count = tags.reduce(0) { $0 + $1.names.count }
        let start = 128 + 4 + 12 * count
        table.writeInteger(UInt32(count))
        for tag in tags {
            for name in tag.names {
                table.writeString(name)
                table.writeInteger(UInt32(start + contents.readableBytes))
                table.writeInteger(UInt32(tag.data.readableBytes))
            }
            contents.writeImmutableBuffer(tag.data)
            // Each begins at a multiple of four.
            contents.writeRepeatingByte(0, count: -tag.data.readableBytes & 3)
        }
        var file = ByteBuffer()
        file.writeInteger(UInt32(start + contents.readableBytes))
        file.writeInteger(UInt32(0))
        file.writeInteger(UInt32(0x0440_0000))
        file.writeString("mntrRGB XYZ ")
        // The first of January 2026.
        file.writeMultipleIntegers(UInt16(2026), UInt16(1), UInt16(1), UInt16(0), UInt16(0), UInt16(0))
        file.writeString("acsp")
        file.writeRepeatingByte(0, count: 68 - file.readableBytes)
        file.writeImmutableBuffer(fixed(SIMD3(0.9642, 1, 0.8249)))
        file.writeRepeatingByte(0, count: 128 - file.readableBytes)
        file.writeImmutableBuffer(table)
        file.writeImmutableBuffer(contents)
        return file
    }

    /// A text in English (§10.15).
    private static func text(_ text: String) -> ByteBuffer {
        var content = ByteBuffer()
        content.writeMultipleIntegers(UInt32(1), UInt32(12))
        content.writeString("enUS")
        content.writeMultipleIntegers(UInt32(2 * text.utf16.count), UInt32(28))
        for unit in text.utf16 { content.writeInteger(unit) }
        return data("mluc", content)
    }

    private static func data(_ type: String, _ contents: ByteBuffer...) -> ByteBuffer {
        var data = ByteBuffer(string: type)
        data.writeInteger(UInt32(0))
        for content in contents { data.writeImmutableBuffer(content) }
        return data
    }

    /// Numbers of 16 bits before and 16 behind the point (§4.7).
    private static func fixed(_ numbers: some Sequence<Double>) -> ByteBuffer {
        var bytes = ByteBuffer()
        for number in numbers { bytes.writeInteger(Int32((number * 65536).rounded())) }
        return bytes
    }

    private static func fixed(_ vector: SIMD3<Double>) -> ByteBuffer { fixed([vector.x, vector.y, vector.z]) }
}
