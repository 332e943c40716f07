import DarkroomRequests
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

    /// On every system: libraries that convert by themselves would make the colors too strong.
    @Test(.enabled(if: OutputFormat.avif.isAvailable))
    func `An AVIF is converted by its code points once`() throws {
        let image = try Drawing.flat(64, 64, [200, 60, 60])
        let plain = try VipsSaver.heif.encode(image, ["compression": "av1", "lossless": true])
        let start = try #require(plain.range(of: "nclx"))
        for (codes, expected) in [
            ([1, 13], [200, 60, 60]), ([12, 13], [217, 42, 52]), ([12, 1], [217, 42, 52]), ([9, 14], [247, 0, 53]),
            ([255, 255], [200, 60, 60]), ([12, 255], [200, 60, 60]),
        ] as [([UInt8], [Int])] {
            var source = plain
            source.setBytes([0, codes[0], 0, codes[1]], at: start + 4)
            let result = try Pixels(produce(source).body)
            #expect(result.isFlat(expected, tolerance: 4), "\(codes): \(result[9, 9])")
        }
    }

    @Test(.enabled(if: SourceFormat.avif.isAvailable))
    func `An AVIF in PQ is tone-mapped from samples of more than 8 bits`() throws {
        var source = try Fixture.image("color/twelve-bit.avif")
        let start = try #require(source.range(of: "nclx"))
        source.setBytes([0, 9, 0, 16], at: start + 4)
        let result = try Pixels(produce(source).body)
        for (x, y, color) in [
            (25, 175, [255, 255, 252]), (75, 175, [228, 229, 225]), (125, 175, [54, 54, 53]),
            (175, 175, [0, 0, 0]), (25, 25, [255, 0, 0]),
        ] {
            #expect(result.distance(x: x, y: y, to: color) <= 4, "\(x),\(y): \(result[x, y])")
        }
        #expect(try SourceHeader(of: source).conversionCost != .none)
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

    @Test(arguments: [("color/grey.png", 1), ("color/grey-alpha.png", 2), ("color/grey.jpg", 1)])
    func `A gray source stays gray`(_ name: String, _ bands: Int) throws {
        let source = try Fixture.image(name)
        for format in [OutputFormat.png, .jpeg] {
            func bandsOfResult(_ recipe: Recipe) throws -> Int {
                let body = try produce(source, recipe, output: OutputOptions(format: format)).body
                let loader: VipsLoader = format == .png ? .png : .jpeg
                return try loader.withImage(of: body) { $0.bands }
            }
            #expect(try bandsOfResult(.box(50, 50)) == (format == .jpeg ? 1 : bands))
            #expect(try bandsOfResult(.with { $0.tint = Tint(Color(red: 0x66, green: 0x33, blue: 0x99)) }) >= 3)
        }
        let color = try produce(Fixture.image("color/squares.png"), .with { $0.filter = .greyscale })
        #expect(try VipsLoader.png.withImage(of: color.body) { $0.bands } == 3)
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
