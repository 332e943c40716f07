import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

struct EncoderTests {
    @Test(arguments: OutputFormat.allCases.filter { !$0.isText })
    func `Every format decodes again to the same size, colors and transparency`(_ format: OutputFormat) throws {
        let drawing = try Drawing.image(64, 48) { x, _ in x < 32 ? [220, 30, 30, 255] : [0, 0, 0, 0] }
        let result = try produce(drawing.png(), output: OutputOptions(format: format))
        #expect(result.format == format)
        #expect(result.size == PixelSize(width: 64, height: 48))
        #expect(SourceFormat(sniffing: result.body)?.rawValue == (format == .jpeg ? "jpeg" : format.rawValue))
        let pixels = try Pixels(result.body)
        #expect(pixels.size == result.size)
        #expect(pixels.distance(x: 10, y: 20, to: [220, 30, 30]) <= 12)
        if format.supportsAlpha {
            #expect(pixels[50, 20][3] <= 4)
        } else {
            #expect(pixels.distance(x: 50, y: 20, to: [255, 255, 255]) <= 6)
        }
    }

    @Test(arguments: [OutputFormat.jpeg, .webp, .avif, .jxl])
    func `A lower quality takes fewer bytes`(_ format: OutputFormat) throws {
        let source = try Fixture.image("formats/photo.jpg")
        let sizes = try [20, nil, 95].map { quality in
            try produce(source, .box(300), output: OutputOptions(format: format, quality: quality)).body.readableBytes
        }
        #expect(sizes[0] < sizes[1] && sizes[1] < sizes[2])
    }

    @Test(arguments: [OutputFormat.webp, .avif, .jxl, .png, .tiff])
    func `Lossless keeps every visible pixel`(_ format: OutputFormat) throws {
        for name in ["formats/photo.jpg", "formats/alpha.png", "color/squares.png"] {
            let source = try Fixture.image(name)
            let exact = try Pixels(produce(source, .box(120)).body)
            let file = try produce(source, .box(120), output: OutputOptions(format: format, lossless: true)).body
            for read in try [Pixels(file), Pixels(produce(file).body)] {
                #expect(read.size == exact.size && read.visibleSamples == exact.visibleSamples, "\(name)")
            }
        }
    }

    @Test func `A lossless AVIF stores red, green and blue as they are`() throws {
        let source = try Fixture.image("formats/alpha.png")
        let file = try produce(source, .box(64), output: OutputOptions(format: .avif, lossless: true)).body
        let container = try #require(HEIFContainer(of: file))
        let colors = HEIFColor(primaries: 1, transfer: 13, matrix: 0, isFullRange: true)
        #expect(container.color == colors && container.codedColor(of: container.primary) == colors)
        #expect(container.alpha(of: container.primary) != nil)
    }

    @Test func `An encoder without a lossless mode refuses ll, and nothing else`() throws {
        let size = PixelSize(width: 8, height: 8)
        func encoder(lossless: Bool) -> DarkroomTransforms.Encoder {
            let options = OutputOptions(format: .avif, lossless: lossless)
            var encoder = DarkroomTransforms.Encoder(options, format: .avif) { false }
            encoder.hasLosslessMode = false
            return encoder
        }
        #expect(encoder(lossless: false).isWritable(size) && !encoder(lossless: true).isWritable(size))
        let error = #expect(throws: ImageProcessingError.self) { try encoder(lossless: true).requireWritable(size) }
        guard case .badParameter(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.parameter == "ll")
    }

    @Test func `A progressive JPEG says so`() throws {
        let source = try Fixture.image("formats/photo.jpg")
        func marker(_ interlaced: Bool) throws -> Bool {
            let body = try produce(source, output: OutputOptions(format: .jpeg, interlaced: interlaced)).body
            return Array(body.readableBytesView).firstRange(of: [0xFF, 0xC2]) != nil
        }
        #expect(try marker(true))
        #expect(try !marker(false))
    }

    @Test(arguments: [
        ("formats/photo.jpg", OutputFormat.jpeg), ("formats/alpha.png", .png), ("formats/photo.webp", .webp),
        ("animation/disposal.gif", .gif), ("formats/photo.avif", .avif), ("formats/photo.heic", .jpeg),
        ("formats/photo.jxl", .jpeg), ("formats/alpha.jxl", .png), ("formats/lzw.tiff", .jpeg),
        ("formats/alpha.tiff", .png),
        ("svg/drawing.svg", .png),
    ])
    func `By default, browsers' formats are kept and others become PNG or JPEG`(
        _ name: String, _ format: OutputFormat
    ) throws {
        #expect(try produce(Fixture.image(name), output: OutputOptions()).format == format)
    }

    @Test func `A side too long for the format is a bad parameter`() throws {
        let error = #expect(throws: ImageProcessingError.self) {
            try produce(
                Drawing.flat(2, 2, [0]).png(), .box(17_000, 1, fit: .fill, enlarge: true),
                output: OutputOptions(format: .webp), limits: PixelLimits(maxOutputSide: 20_000))
        }
        guard case .badParameter(let reason) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(reason.parameter == "output")
    }
}

struct EncoderOptionTests {
    @Test func `A PNG has the level that is asked for, a photograph is filtered, and pixels stay the same`() throws {
        let source = try Fixture.image("formats/photo.jpg")
        func encoded(_ output: OutputOptions) throws -> ByteBuffer {
            try produce(source, .box(200), output: output).body
        }
        let plain = try encoded(OutputOptions(format: .png))
        let (quick, small) = (
            try encoded(OutputOptions(format: .png, compression: 1)),
            try encoded(OutputOptions(format: .png, compression: 9))
        )
        let filtered = try encoded(OutputOptions(format: .png, filtersRows: true))
        #expect(quick.readableBytes > plain.readableBytes && small.readableBytes < plain.readableBytes)
        #expect(filtered == plain)
        for other in [quick, small, filtered] { #expect(try Pixels(other).samples == Pixels(plain).samples) }
        #expect(try encoded(OutputOptions(format: .png, compression: 6)) == plain)
    }

    @Test func `A palette makes a PNG of at most 256 colors that looks the same`() throws {
        let source = try Fixture.image("formats/photo.jpg")
        let whole = try produce(source, .box(200), output: OutputOptions(format: .png))
        let few = try produce(source, .box(200), output: OutputOptions(format: .png, palette: true))
        #expect(few.body.readableBytes * 2 < whole.body.readableBytes)
        let (pixels, original) = (try Pixels(few.body), try Pixels(whole.body))
        var colors: Set<[Int]> = []
        for y in 0..<pixels.height { for x in 0..<pixels.width { colors.insert(pixels[x, y]) } }
        #expect(colors.count <= 256)
        #expect(pixels.hashDistance(to: original) <= 4 && pixels.meanDistance(to: original) < 8)
    }

    @Test func `Near-lossless WebP is smaller than lossless, larger at more fidelity, and hardly different`() throws {
        let source = try Fixture.image("formats/photo.jpg")
        func made(_ options: OutputOptions) throws -> ByteBuffer {
            try produce(source, .box(200), output: options).body
        }
        let lossless = try made(OutputOptions(format: .webp, lossless: true))
        let near = try made(OutputOptions(format: .webp, nearLossless: true))
        let nearer = try made(OutputOptions(format: .webp, quality: 90, nearLossless: true))
        #expect(near.readableBytes < nearer.readableBytes && nearer.readableBytes <= lossless.readableBytes)
        #expect(try Pixels(near).meanDistance(to: Pixels(lossless)) < 4)
        #expect(near.getString(at: 12, length: 4) == "VP8L" || near.getString(at: 12, length: 4) == "VP8X")
    }

    @Test func `More effort makes a smaller WebP, and other keys`() throws {
        func made(_ efforts: EncoderEfforts) throws -> Int {
            let job = ImageJob(
                source: try Fixture.image("formats/photo.jpg"), chain: TransformChain(.box(200)),
                output: OutputOptions(format: .webp), efforts: efforts)
            return try InProcessImageProcessor().process(job) { false }.body.readableBytes
        }
        #expect(try made(EncoderEfforts(webp: 6)) < made(EncoderEfforts(webp: 0)))
        let epochs = [EncoderEfforts(), EncoderEfforts(webp: 6), EncoderEfforts(png: 9)].map {
            EncoderEpoch.identifier($0)
        }
        #expect(Set(epochs).count == 3 && epochs[0] == EncoderEpoch.current)
        // The limit on time may lower efforts.
        let quick = EncoderEpoch.identifier(EncoderEfforts(), limits: PixelLimits(maxProcessingMilliseconds: 9))
        #expect(!epochs.contains(quick))
        #expect(EncoderEfforts(webp: 9, avif: -1, jxl: 1, png: 0) == EncoderEfforts(webp: 6, avif: 0, jxl: 3, png: 1))
    }
}

struct GIFQualityTests {
    @Test func `A GIF has as many colors as its quality permits, and fewer take fewer bytes`() throws {
        let source = try Fixture.image("formats/photo.jpg")
        var sizes: [Int] = []
        for (quality, most) in [(100, 256), (70, 256), (69, 128), (50, 64), (40, 32), (20, 8), (1, 4)] {
            let output = OutputOptions(format: .gif, quality: quality)
            let body = try produce(source, .box(120), output: output).body
            let pixels = try Pixels(body)
            let colors = Set(
                stride(from: 0, to: pixels.samples.count, by: pixels.bands).map { pixels.samples[$0..<($0 + 3)] })
            #expect(colors.count <= most && colors.count > most / 2)
            sizes.append(body.readableBytes)
        }
        #expect(sizes[0] == sizes[1] && sizes == sizes.sorted(by: >))
        #expect(try produce(source, .box(120), output: OutputOptions(format: .gif)).body.readableBytes == sizes[0])
    }

    @Test func `An animated GIF keeps its frames in fewer colors`() throws {
        let source = try Fixture.image("animation/disposal.gif")
        let usual = try produce(source, output: OutputOptions(format: .gif))
        let small = try produce(source, output: OutputOptions(format: .gif, quality: 10))
        #expect(small.frames == usual.frames && small.body.readableBytes <= usual.body.readableBytes)
        let (header, expected) = (try SourceHeader(of: small.body), try SourceHeader(of: usual.body))
        #expect(header.delays == expected.delays && header.loop == expected.loop)
    }
}

struct EncoderEpochTests {
    @Test func `The epoch is sixteen hexadecimal digits and stays the same`() {
        #expect(EncoderEpoch.current.count == 16)
        #expect(EncoderEpoch.current.allSatisfy { $0.isHexDigit })
        #expect(EncoderEpoch.current == EncoderEpoch.current)
    }
}

extension Pixels {
    /// The samples with the colors of transparent pixels cleared.
    fileprivate var visibleSamples: [UInt8] {
        guard bands == 4 else { return samples }
        var samples = samples
        for pixel in stride(from: 0, to: samples.count, by: 4) where samples[pixel + 3] == 0 {
            samples.replaceSubrange(pixel..<(pixel + 3), with: [0, 0, 0])
        }
        return samples
    }
}
