import DarkroomVips
import NIOCore

/// The parts of an embedded ICC profile that decide whether a conversion can be skipped (ICC.1:2022, §7).
struct ICCProfile {
    let bytes: ByteBuffer

    /// Whether the profile's color space is the image's: a gray image ignores an RGB profile.
    func suits(_ image: VipsImage) -> Bool {
        let colors = image.bands - (image.hasAlpha ? 1 : 0)
        return switch text(at: 16) {
        case "RGB ": colors == 3
        case "GRAY": colors == 1
        case "CMYK": colors == 4
        default: false
        }
    }

    /// Whether it describes sRGB, by the values of its primaries and its curves; its name proves nothing.
    var isSRGB: Bool { isSRGB(with: ColorSpace.sRGB.toXYZ) }

    /// Whether it describes Display P3, in the same way.
    var isDisplayP3: Bool { Chromaticities.p3.toXYZ.map(isSRGB) ?? false }

    /// Whether it has these primaries and the curves of sRGB.
    private func isSRGB(with expected: ColorMatrix) -> Bool {
        guard let found = primaries else { return false }
        let differences = [found.red - expected.red, found.green - expected.green, found.blue - expected.blue]
        return differences.allSatisfy { ($0 * $0).max() < 0.003 * 0.003 }
            && ["rTRC", "gTRC", "bTRC"].allSatisfy(hasSRGBCurve)
    }

    /// What red, green and blue are in XYZ; nil for other color spaces, and for a profile of tables.
    var primaries: ColorMatrix? {
        guard text(at: 16) == "RGB ", let red = xyz("rXYZ"), let green = xyz("gXYZ"), let blue = xyz("bXYZ") else {
            return nil
        }
        return ColorMatrix(red: SIMD3(red), green: SIMD3(green), blue: SIMD3(blue))
    }

    /// The profile's description: the ASCII text of version 2, or the first language of version 4 (ICC.1:2022 §9.2.41,
    /// §10.15).
    var description: String? {
        guard let offset = offset(of: "desc") else { return nil }
        switch text(at: offset) {
        case "desc":
            guard let count = bytes.getInteger(at: offset + 8, as: UInt32.self) else { return nil }
            return bytes.getString(at: offset + 12, length: min(max(Int(count) - 1, 0), Self.maxNameBytes))
        case "mluc":
            guard let count = bytes.getInteger(at: offset + 20, as: UInt32.self),
                let start = bytes.getInteger(at: offset + 24, as: UInt32.self)
            else { return nil }
            var rest = bytes.getSlice(at: offset + Int(start), length: min(Int(count), Self.maxNameBytes))
            var units: [UInt16] = []
            while let unit = rest?.readInteger(as: UInt16.self) { units.append(unit) }
            return String(decoding: units, as: UTF16.self)
        default:
            return nil
        }
    }

    /// The color space of a profile for HDR; nil for any other. Its curves would show HDR far too dark: their white is
    /// the greatest light.
    ///
    /// Known by its code points (ICC.1:2022 §9.2.17), or, as libjxl 0.7 writes it, by the shape of its curve.
    var spaceOfHDR: ColorSpace? {
        guard text(at: 16) == "RGB " else { return nil }
        if let offset = offset(of: "cicp"), let codes = bytes.getBytes(at: offset + 8, length: 4) {
            let points = CodePoints(
                primaries: Int(codes[0]), transfer: Int(codes[1]), matrix: Int(codes[2]), isFullRange: codes[3] == 1)
            return points.space.flatMap { $0.curve.isHDR ? $0 : nil }
        }
        guard let curve = [TransferCurve.pq, .hlg].first(where: hasCurve), let primaries else { return nil }
        return ColorSpace(toXYZ: primaries, curve: curve)
    }

    /// Whether the table of the red curve has this shape, at its quarters.
    private func hasCurve(_ curve: TransferCurve) -> Bool {
        guard let offset = offset(of: "rTRC"), text(at: offset) == "curv",
            let count = bytes.getInteger(at: offset + 8, as: UInt32.self), count > 16
        else { return false }
        return [0.25, 0.5, 0.75].allSatisfy { place in
            let index = Int(place * Double(count - 1))
            guard let entry = bytes.getInteger(at: offset + 12 + 2 * index, as: UInt16.self) else { return false }
            let expected = curve.light(Double(index) / Double(count - 1)) / curve.light(1)
            return abs(Double(entry) / 65535 - expected) < 0.002 + expected / 20
        }
    }

    private static let maxNameBytes = 1024

    /// The curve's midpoint distinguishes sRGB (0.214) from a gamma of 1.8 (0.287) or 1.0; 2.2 (0.218) is close enough.
    private func hasSRGBCurve(_ tag: String) -> Bool {
        guard let offset = offset(of: tag) else { return false }
        switch text(at: offset) {
        case "curv":
            guard let count = bytes.getInteger(at: offset + 8, as: UInt32.self) else { return false }
            if count == 1 {
                guard let gamma = bytes.getInteger(at: offset + 12, as: UInt16.self) else { return false }
                return abs(Double(gamma) / 256 - 2.2) < 0.02
            }
            guard count > 16, let middle = bytes.getInteger(at: offset + 12 + Int(count / 2) * 2, as: UInt16.self)
            else { return false }
            return abs(Double(middle) / 65535 - 0.214) < 0.006
        case "para":
            guard bytes.getInteger(at: offset + 8, as: UInt16.self) == 3, let gamma = fixed(at: offset + 12)
            else { return false }
            return abs(gamma - 2.4) < 0.01
        default:
            return false
        }
    }

    private func xyz(_ tag: String) -> [Double]? {
        guard let offset = offset(of: tag), text(at: offset) == "XYZ " else { return nil }
        let values = [8, 12, 16].compactMap { fixed(at: offset + $0) }
        return values.count == 3 ? values : nil
    }

    /// The offset of a tag's data, from the tag table at byte 128.
    private func offset(of tag: String) -> Int? {
        guard let count = bytes.getInteger(at: 128, as: UInt32.self) else { return nil }
        let entry = (0..<min(Int(count), 64)).lazy.map { 132 + $0 * 12 }.first { text(at: $0) == tag }
        return entry.flatMap { bytes.getInteger(at: $0 + 4, as: UInt32.self) }.map(Int.init)
    }

    private func fixed(at index: Int) -> Double? {
        bytes.getInteger(at: index, as: Int32.self).map { Double($0) / 65536 }
    }

    private func text(at index: Int) -> String? { bytes.getString(at: index, length: 4) }
}
