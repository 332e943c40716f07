import DarkroomRequests
import DarkroomVips
import Foundation
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Valid files that libheif refuses or shows differently, as they are shown.
struct HEIFRewritingTests {
    private typealias Reference = HEIFContainer.Reference
    private typealias Association = HEIFContainer.Association

    private func container(_ name: String) throws -> HEIFContainer {
        try #require(HEIFContainer(of: Fixture.image(name)))
    }

    /// The file whose primary item alone has one more property.
    private func file(_ container: HEIFContainer, adding type: String, _ content: [UInt8]) throws -> ByteBuffer {
        var property = ByteBuffer()
        property.writeISOBox(type) { $0.writeBytes(content) }
        var associations = container.associations
        let use = Association(property: container.properties.count + 1, isEssential: true)
        associations[container.primary, default: []].append(use)
        return try #require(
            container.describing(container.properties.map(\.bytes) + [property], container.references, associations))
    }

    @Test func `The greatest light of the content is read`() throws {
        let photo = try container("color/twelve-bit.avif")
        #expect(photo.color?.peakNits == 0)
        let bright = try HEIFContainer(of: file(photo, adding: "clli", [0x01, 0xD6, 0, 100]))
        #expect(bright?.color?.peakNits == 470)
        #expect(try HEIFContainer(of: file(photo, adding: "clli", [1]))?.color?.peakNits == 0)
    }

    @Test(arguments: ["formats/alpha.avif", "formats/photo.heic", "formats/thumbnail.heic", "color/icc-swap.avif"])
    func `A plain file is not rewritten`(_ name: String) throws {
        #expect(try container(name).rewritten() == nil)
    }

    @Test(
        arguments: [
            ("irot", [1]), ("irot", [2]), ("imir", [0]), ("imir", [1]),
            (
                "clap",
                [0, 0, 0, 80, 0, 0, 0, 1, 0, 0, 0, 60, 0, 0, 0, 1, 0, 0, 0, 10, 0, 0, 0, 1, 0, 0, 0, 5, 0, 0, 0, 1]
            ),
        ] as [(String, [UInt8])])
    func `Alpha is transformed like its image`(_ type: String, _ content: [UInt8]) throws {
        let plain = try container("formats/alpha.avif")
        let transformed = try file(plain, adding: type, content)
        let result = try Pixels(produce(transformed).body)
        let original = try Pixels(produce(plain.file).body)
        #expect(result.bands == 4)
        let (width, height) = (original.width, original.height)
        for (x, y) in [(0, 0), (5, 3), (30, 20), (result.width - 1, result.height - 1)] {
            let source: (x: Int, y: Int)
            switch (type, content[0]) {
            case ("irot", 1): source = (width - 1 - y, x)
            case ("irot", _): source = (width - 1 - x, height - 1 - y)
            case ("imir", 0): source = (x, height - 1 - y)
            case ("imir", _): source = (width - 1 - x, y)
            default: source = (x + (width - 80) / 2 + 10, y + (height - 60) / 2 + 5)
            }
            // Newer decoders interpolate chroma, at the edge of a crop from fewer samples.
            #expect(result.distance(x: x, y: y, to: original[source.x, source.y]) <= 12, "\(x),\(y)")
        }
    }

    /// A red and a blue cell, one beside the other. The rotation of the grid is also stated for each cell.
    private static let rotatedGrid = [
        "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUEAAAGLbWV0YQAAAAAAAAAoaGRscgAAAAAAAAAAcGljdAAAAAAAAAAAAAAA",
        "AGxpYmF2aWYAAAAADnBpdG0AAAAAAAEAAAA6aWxvYwAAAABEAAADAAEAAAABAAABswAAAAgAAgAAAAEAAAG7AAAAJwADAAAAAQAA",
        "AeIAAAAnAAAAXGlpbmYAAAAAAAMAAAAaaW5mZQIAAAAAAQAAZ3JpZENvbG9yAAAAABppbmZlAgAAAQACAABhdjAxQ29sb3IAAAAA",
        "GmluZmUCAAABAAMAAGF2MDFDb2xvcgAAAAAcaXJlZgAAAAAAAAAQZGltZwABAAIAAgADAAAAl2lwcnAAAABoaXBjbwAAABRpc3Bl",
        "AAAAAAAAAIAAAABAAAAAEHBpeGkAAAAAAwgICAAAABNjb2xybmNseAABAA0ABoAAAAAJaXJvdAEAAAAUaXNwZQAAAAAAAABAAAAA",
        "QAAAAAxhdjFDgSAAAAAAACdpcG1hAAAAAAAAAAMAAQQBAgOEAAIFBQKGA4QAAwUFAoYDhAAAAF5tZGF0AAAAAQCAAEASAAoJOBV/",
        "/YQENBpAMhgQAAC0UbTxXqgEZAeidv30TQeRfF/gZUASAAoJOBV//YQENBpAMhgQAAC0UbTwhX/hGPyPuknfYPj6tUWAX6A=",
    ].joined()

    @Test func `The cells of a grid are not rotated on their own`() throws {
        let file = ByteBuffer(bytes: try #require(Data(base64Encoded: Self.rotatedGrid)))
        let result = try Pixels(produce(file).body)
        #expect(result.size == PixelSize(width: 64, height: 128))
        for (x, y) in [(5, 5), (60, 5), (5, 58), (60, 58)] {
            #expect(result.distance(x: x, y: y, to: [0, 0, 255]) <= 3, "\(x),\(y)")
            #expect(result.distance(x: x, y: y + 64, to: [255, 0, 0]) <= 3, "\(x),\(y + 64)")
        }
    }

    @Test func `Metadata, thumbnails and alpha that refer to several items belong to the image that is shown`() throws {
        let plain = try container("formats/alpha.avif")
        let alpha = try #require(plain.alpha(of: plain.primary))
        let references = plain.references.map {
            Reference(type: $0.type, from: $0.from, to: $0.from == alpha ? [99, alpha, plain.primary] : $0.to)
        }
        let several = try #require(
            plain.describing(plain.properties.map(\.bytes), references, plain.associations))
        #expect(try Pixels(produce(several).body).samples == Pixels(produce(plain.file).body).samples)

        let described = try container("formats/thumbnail.heic")
        let thumbnail = try #require(described.references.first { $0.type == "thmb" })
        let two = described.references.map {
            $0 == thumbnail ? Reference(type: "thmb", from: $0.from, to: [$0.from, described.primary]) : $0
        }
        let file = try #require(described.describing(described.properties.map(\.bytes), two, described.associations))
        #expect(try produce(file).size == produce(described.file).size)
        // A description of nothing that is an image is left out.
        let nowhere = described.references + [Reference(type: "cdsc", from: thumbnail.from, to: [77])]
        let lost = try #require(
            described.describing(described.properties.map(\.bytes), nowhere, described.associations))
        #expect(
            HEIFContainer(of: lost)?.rewritten().flatMap(HEIFContainer.init(of:))?.references == described.references)
    }

    @Test func `A description without a length, and bytes behind the last box, are read`() throws {
        let plain = try container("formats/alpha.avif")
        var moved = try #require(
            plain.describing(plain.properties.map(\.bytes), plain.references, plain.associations))
        let meta = try #require(HEIFContainer(of: moved)).meta
        moved.setInteger(UInt32(0), at: meta.start)
        #expect(try Pixels(produce(moved).body).samples == Pixels(produce(plain.file).body).samples)

        var rotated = try file(plain, adding: "irot", [1])
        rotated.writeBytes([1, 2, 3])
        #expect(try Pixels(produce(rotated).body).bands == 4)
    }

    @Test func `Premultiplied colors are divided once`() throws {
        let plain = try container("formats/alpha.avif")
        let alpha = try #require(plain.alpha(of: plain.primary))
        let references = plain.references + [Reference(type: "prem", from: plain.primary, to: [alpha])]
        let file = try #require(plain.describing(plain.properties.map(\.bytes), references, plain.associations))
        let (result, stored) = (try Pixels(produce(file).body), try Pixels(produce(plain.file).body))
        for x in [40, 80, 120, 159] {
            let color = stored[x, 60]
            let divided = color.prefix(3).map { min(255, ($0 * 255 + color[3] / 2) / color[3]) } + [color[3]]
            #expect(result.distance(x: x, y: 60, to: Array(divided)) <= 1, "\(x)")
        }
    }

    @Test func `Alpha in the range of video becomes alpha of full range`() throws {
        let plain = try container("formats/alpha.avif")
        let alpha = try #require(plain.alpha(of: plain.primary))
        let data = try #require(plain.data(of: alpha))
        let color = try #require(AV1SequenceHeader.color(of: data))
        #expect(color.isFullRange)
        let place = try #require(
            plain.file.readableBytesView.firstRange(of: Array(data.readableBytesView.prefix(16)))?.lowerBound)
        // The flag is found by its effect on the header.
        let expected = HEIFColor(
            primaries: color.primaries, transfer: color.transfer, matrix: color.matrix, isFullRange: false)
        var limited: ByteBuffer?
        for bit in 0..<(16 * 8) where limited == nil {
            var changed = plain.file
            let byte: UInt8 = changed.getInteger(at: place + bit / 8) ?? 0
            changed.setInteger(byte ^ 0x80 >> (bit % 8), at: place + bit / 8)
            let stated = HEIFContainer(of: changed)?.data(of: alpha).flatMap(AV1SequenceHeader.color(of:))
            if stated == expected, (try? produce(changed)) != nil { limited = changed }
        }
        let (result, stored) = (try Pixels(produce(#require(limited)).body), try Pixels(produce(plain.file).body))
        for x in [0, 20, 80, 140, 159] {
            let opacity = min(max((stored[x, 60][3] - 16) * 255 / 219, 0), 255)
            #expect(abs(result[x, 60][3] - opacity) <= 1, "\(x)")
        }
    }

    @Test func `A file that needs a later libheif is named with that version`() throws {
        let photo = try container("color/twelve-bit.avif")
        let mirrored = try file(photo, adding: "imir", [0])
        #expect(throws: ImageProcessingError.outdatedDecoder(.deepMirror)) {
            try HEIFRequirements.readable(mirrored, version: (1, 15))
        }
        #expect(try HEIFRequirements.readable(mirrored, version: (1, 19)) == mirrored)
        #expect(HEIFFeature.deepMirror.reason.contains("libheif 1.19"))
        var minimized = ByteBuffer()
        minimized.writeISOBox("ftyp") { $0.writeString("avif\0\0\0\0avif") }
        minimized.writeISOBox("mini") { $0.writeInteger(UInt32(0)) }
        #expect(throws: ImageProcessingError.outdatedDecoder(.minimizedDescription)) {
            try HEIFRequirements.readable(minimized, version: (1, 19))
        }
    }
}
