import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Animations for clients that accept JPEG XL. libvips writes animated JPEG XL from version 8.16 on.
struct AnimatedJPEGXLTests {
    private static let negotiated = OutputOptions(format: .jxl, alternative: .webp)
    private static let isWritten = OutputFormat.jxl.writesFrames
    private static let delays = [40, 50, 60, 70, 500]
    private static let size = PixelSize(width: 96, height: 64)

    /// Five frames of a gradient with noise, as of a camera, that play three times.
    private static func film() throws -> [VipsImage] {
        try delays.indices.map { frame in
            try Drawing.image(size.width, size.height) { x, y in
                let noise = Int(hash(x, y, frame) % 65) - 32
                return [60 + x, 180 - y, 100 + (x + y) / 2].map { UInt8(clamping: $0 + noise + frame * 10) }
            }
        }
    }

    private static func hash(_ x: Int, _ y: Int, _ frame: Int) -> UInt32 {
        var value = UInt32(truncatingIfNeeded: x * 7919 + y * 104_729 + frame * 1_299_709 + x * y * 31)
        value = value &* 2_654_435_761
        value ^= value >> 15
        value = value &* 2_246_822_519
        return value ^ value >> 13
    }

    /// A chart of which a few pixels change.
    private static func drawing() throws -> [VipsImage] {
        try delays.indices.map { frame in
            try Drawing.image(size.width, size.height) { x, y in
                x / 8 == frame && y < 16 ? Drawing.red : y % 8 == 0 ? [0, 0, 0] : [250, 250, 250]
            }
        }
    }

    private static func file(_ frames: [VipsImage]) throws -> ByteBuffer {
        let fields = ["page-height": size.height, "loop": 3]
        let film = try VipsImage.stacked(frames).setting(ints: fields, arrays: ["delay": delays])
        return try VipsSaver.webp.encode(film, ["lossless": true])
    }

    private func plan(_ source: ByteBuffer, _ output: OutputOptions) throws -> ImagePlan {
        try InProcessImageProcessor().plan(ImageJob(source: source, chain: TransformChain([]), output: output))
    }

    private func expectTiming(
        _ result: ProcessedImage, _ delays: [Int] = Self.delays, loop: Int = 3, _ size: PixelSize = Self.size
    ) throws {
        let loader = try #require(SourceFormat(sniffing: result.body)?.row.loader)
        try loader.withImage(of: result.body, ["n": -1]) { image throws(VipsError) in
            #expect(image.int("n-pages") == delays.count && image.ints("delay") == delays)
            #expect(image.int("loop") == loop)
            #expect(image.width == size.width && image.int("page-height") == size.height)
        }
        #expect(result.frames == delays.count && result.size == size)
    }

    // MARK: The choice

    @Test func `An animation may become JPEG XL where it is compared with WebP and libvips writes it`() {
        func formats(_ output: OutputOptions, animates: Bool = true, frames: Int = 9) -> [OutputFormat] {
            output.formats(of: .gif, frames: frames, hasAlpha: false, animatesJXL: animates)
        }
        #expect(formats(Self.negotiated) == [.jxl, .webp, .gif])
        #expect(formats(Self.negotiated, animates: false) == [.webp, .gif])
        #expect(formats(Self.negotiated, animates: false, frames: 1).first == .jxl)
        #expect(formats(OutputOptions(format: .jxl, alternative: .natural)) == [.gif])
        #expect(formats(OutputOptions(format: .jxl, lossless: true, alternative: .webp)) == [.webp, .gif])
        #expect(formats(OutputOptions(format: .jxl, maxBytes: 9_000, alternative: .webp)) == [.webp, .gif])
        #expect(formats(OutputOptions(format: .jxl)) == [.jxl])
        let written: [OutputFormat] = Self.isWritten ? [.webp, .gif, .jxl] : [.webp, .gif]
        #expect(InstalledCodecs.current.animated == written)
    }

    @Test func `A film changes throughout, and a drawing does not`() throws {
        #expect(try FrameChanges.areThroughout(ImageFrames(frames: Self.film())))
        #expect(try !FrameChanges.areThroughout(ImageFrames(frames: Self.drawing())))
        let still = try Drawing.flat(96, 64, [1, 2, 3])
        for (stillParts, isThroughout) in [(1, true), (3, false)] {
            let frames = try Self.film().map { frame in
                try VipsImage.stacked(Array(repeating: still, count: stillParts) + [frame])
            }
            #expect(try FrameChanges.areThroughout(ImageFrames(frames: frames)) == isThroughout)
        }
    }

    /// Whether it is a film, the known length of a WebP, the length as JPEG XL, what is encoded, and the result.
    private static let comparisons: [(Bool, Int?, Int, [OutputFormat], OutputFormat)] = [
        (true, nil, 90, [.webp, .jxl], .jxl), (true, nil, 100, [.webp, .jxl], .webp),
        (true, 100, 90, [.jxl], .jxl), (true, 100, 110, [.jxl, .webp], .webp),
        (false, nil, 90, [.webp], .webp), (false, 100, 90, [.webp], .webp),
    ]

    @Test(arguments: comparisons)
    func `The smaller format is the result, and of a drawing only the WebP is encoded`(
        isFilm: Bool, known: Int?, bytes: Int, expected: [OutputFormat], result: OutputFormat
    ) throws {
        var encoded: [OutputFormat] = []
        func image(_ format: OutputFormat, _ bytes: Int) -> EncodedImage {
            encoded.append(format)
            return EncodedImage(body: ByteBuffer(repeating: 0, count: bytes), format: format)
        }
        let frames = ImageFrames(frames: isFilm ? try Self.film() : try Self.drawing())
        let made = try WebPComparison(output: Self.negotiated, knownBytes: known).result(
            for: frames, preferred: { () throws(ImageProcessingError) in image(.jxl, bytes) },
            webP: { () throws(ImageProcessingError) in image(.webp, 100) })
        #expect(made.format == result && encoded == expected)
    }

    // MARK: Results

    @Test func `A film is the smaller of both formats, with its delays and plays`() throws {
        let source = try Self.file(Self.film())
        let result = try produce(source, output: Self.negotiated)
        let webP = try produce(source, output: OutputOptions(format: .webp))
        #expect(result.format == (Self.isWritten ? .jxl : .webp))
        #expect(Self.isWritten ? result.body.readableBytes < webP.body.readableBytes : result.body == webP.body)
        try expectTiming(result)
        let frames = try Self.delays.indices.map { try Pixels(source, frame: $0) }
        for frame in frames.indices {
            let pixels = try Pixels(result.body, frame: frame)
            let nearest = frames.indices.min {
                pixels.meanDistance(to: frames[$0]) < pixels.meanDistance(to: frames[$1])
            }
            #expect(nearest == frame)
        }
        let plan = try plan(source, Self.negotiated)
        #expect(plan.format == result.format && plan.frames == 5 && (plan.webPChoiceWork != nil) == Self.isWritten)
    }

    @Test func `A drawing stays the WebP`() throws {
        let source = try Self.file(Self.drawing())
        let result = try produce(source, output: Self.negotiated)
        #expect(result.format == .webp)
        #expect(try result.body == produce(source, output: OutputOptions(format: .webp)).body)
        try expectTiming(result)
    }

    @Test(.enabled(if: isWritten), arguments: ["disposal.gif", "disposal.webp", "disposal.png"])
    func `An animation is JPEG XL where the URL names it, with alpha, delays and plays`(_ name: String) throws {
        let source = try Fixture.image("animation/\(name)")
        let result = try produce(source, output: OutputOptions(format: .jxl, lossless: true))
        let webP = try produce(source, output: OutputOptions(format: .webp, lossless: true))
        #expect(result.format == .jxl && result.frames == 4)
        let loop = try SourceHeader(of: webP.body).loop
        try expectTiming(result, [100, 200, 300, 50], loop: loop, webP.size)
        for frame in 0..<4 {
            let (one, other) = (try Pixels(result.body, frame: frame), try Pixels(webP.body, frame: frame))
            for (x, y) in [(4, 4), (10, 10), (10, 50), (50, 20)] {
                #expect(one[x, y][3] == other[x, y][3], "frame \(frame) at \(x), \(y)")
                if other[x, y][3] > 0 { #expect(one[x, y] == other[x, y], "frame \(frame) at \(x), \(y)") }
            }
        }
        let pages = PageSelection(first: 2, count: 2)
        let some = try produce(source, .box(30), output: OutputOptions(format: .jxl), pages: pages)
        try expectTiming(some, [200, 300], loop: loop, PixelSize(width: 30, height: some.size.height))
    }

    @Test(.enabled(if: !isWritten))
    func `Without a libvips that writes it, JPEG XL has the first frame`() throws {
        let result = try produce(Fixture.image("animation/disposal.gif"), output: OutputOptions(format: .jxl))
        #expect(result.format == .jxl && result.frames == 1)
    }

    // MARK: Estimates

    @Test(arguments: [
        (800, 600, 2, false, 46.8), (800, 600, 10, false, 34.2), (800, 600, 30, false, 37.4),
        (800, 600, 10, true, 47.3), (200, 150, 30, false, 13.7), (200, 150, 100, false, 8.4),
        (1600, 1200, 4, false, 149.8), (64, 64, 200, false, 2.3),
    ])
    func `The estimate of memory is between 80 and 200 percent of the measurement`(
        width: Int, height: Int, frames: Int, hasAlpha: Bool, mebibytes: Double
    ) {
        let area = width * height * frames
        let facts = CostEstimate.Facts(
            sourceBytes: 1, format: .webp, sourceArea: area / frames, frames: frames, needsWholeSource: true,
            rasterArea: area, rasterBytes: area * 3, rasterHasAlpha: hasAlpha, resampledArea: 0, isLinear: false,
            steps: .none, output: Self.negotiated, outputFormat: .jxl, resultArea: area, resultFrames: frames,
            resultHasAlpha: hasAlpha)
        let estimate = OutputFormat.jxl.row.bytes(facts) / 1_048_576
        #expect(estimate >= 0.8 * mebibytes && estimate <= 2 * mebibytes, "\(estimate)")
    }
}
