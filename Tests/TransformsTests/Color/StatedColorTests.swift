import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Whole files whose colors are stated without an ICC profile.
struct StatedColorTests {
    private static func png(_ color: [UInt8], _ chunks: [(String, [UInt8])]) throws -> ByteBuffer {
        var file = PNGFile(try Drawing.flat(40, 40, color).png())
        for (type, content) in chunks { file.insert(type, content, before: "IDAT") }
        return file.bytes
    }

    private static let p3 = ("cICP", [12, 13, 0, 1] as [UInt8])
    private static let linear = ("gAMA", [0, 1, 0x86, 0xA0] as [UInt8])

    @Test(arguments: Resampling.allCases)
    func `A PNG is converted once, scaled or not`(
        _ resampling: Resampling
    ) throws {
        for (color, chunk, expected) in [
            ([200, 60, 60], Self.p3, [217, 42, 52]), ([128, 128, 128], Self.linear, [188, 188, 188]),
            ([128, 128, 128, 77], Self.linear, [188, 188, 188, 77]), ([128], Self.linear, [188, 188, 188]),
        ] as [([UInt8], (String, [UInt8]), [Int])] {
            let source = try Self.png(color, [chunk])
            for recipe in [Recipe(resampling: resampling), .box(13, 13, as: resampling)] {
                let result = try produce(source, recipe)
                #expect(try Pixels(result.body).isFlat(expected, tolerance: 1), "\(color) \(chunk.0)")
                #expect(PNGContainer.color(of: result.body) == nil)
            }
        }
    }

    @Test func `Code points take precedence over a profile, which takes precedence over gamma`() throws {
        var swapped = PNGFile(try Fixture.image("color/icc-swap.png"))
        let shown = try Pixels(produce(swapped.bytes).body)
        swapped.insert(Self.linear.0, Self.linear.1, before: "IDAT")
        #expect(try Pixels(produce(swapped.bytes).body).samples == shown.samples)
        swapped.insert("cICP", [1, 13, 0, 1], before: "IDAT")
        let plain = try Pixels(produce(swapped.bytes).body)
        #expect(plain.distance(x: 25, y: 25, to: shown[25, 25]) > 50)
    }

    @Test func `Passthrough never sends a file whose look depends on what it strips`() throws {
        for chunk in [Self.p3, Self.linear] {
            for color in [[200, 60, 60], [128]] as [[UInt8]] {
                let source = try Self.png(color, [chunk])
                let output = OutputOptions(format: .png, passthrough: .auto)
                let result = try produce(source, output: output)
                let pixels = try Pixels(result.body)
                #expect(try pixels.samples == Pixels(produce(source).body).samples, "\(chunk.0) \(color)")
            }
        }
        // What means sRGB may be stripped.
        let standard = try Self.png([200, 60, 60], [("cICP", [1, 13, 0, 1])])
        let result = try produce(standard, output: OutputOptions(format: .png, passthrough: .auto))
        #expect(try Pixels(result.body).isFlat([200, 60, 60]))
    }

    @Test func `The cost of converting is estimated`() throws {
        let plain = try SourceHeader(of: Self.png([200, 60, 60], []))
        #expect(plain.conversionCost == .none)
        #expect(try SourceHeader(of: Self.png([200, 60, 60], [("cICP", [1, 13, 0, 1])])).conversionCost == .none)
        let (p3, hdr) = (
            try SourceHeader(of: Self.png([200, 60, 60], [Self.p3])),
            try SourceHeader(of: Self.png([200, 60, 60], [("cICP", [9, 16, 0, 1])]))
        )
        #expect(p3.conversionCost.nanosecondsPerPixel > 0)
        #expect(hdr.conversionCost.nanosecondsPerPixel > p3.conversionCost.nanosecondsPerPixel)
    }
}

extension ByteBuffer {
    /// The index of the first such text.
    fileprivate func range(of text: String) -> Int? {
        let bytes = Array(readableBytesView)
        let searched = Array(text.utf8)
        return bytes.indices.first { bytes[$0...].starts(with: searched) }.map { $0 + readerIndex }
    }
}
