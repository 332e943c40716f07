import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// What the pixels of a result decide about its encoding.
struct PixelContentTests {
    /// An icon in which neighbors have nothing in common.
    private static func icon(_ side: Int) throws -> VipsImage {
        try Drawing.image(side, side) { x, y in
            [(x * 97 + y * 31) % 256, (x * 57 + y * 151) % 256, (x * 11 + y * 83 + x * y * 7) % 256].map { UInt8($0) }
        }
    }

    /// Red letters on green, of whole pixels.
    private static func letters() throws -> VipsImage {
        try Drawing.image(200, 80) { x, y in
            (x / 3 + y / 5) % 3 == 0 && x % 40 < 30 ? [230, 20, 20] : [20, 160, 60]
        }
    }

    @Test(arguments: [8, 16, 32])
    func `A tiny image keeps its colors`(side: Int) throws {
        let icon = try Self.icon(side)
        let original = try Pixels(icon)
        for (format, tolerance) in [(OutputFormat.webp, 2.0), (.jpeg, 8), (.avif, 20)] {
            let pixels = try Pixels(produce(icon.png(), output: OutputOptions(format: format)).body)
            #expect(pixels.meanDistance(to: original) <= tolerance, "\(format)")
        }
    }

    @Test func `A drawing of few colors is a lossless WebP, which is smaller`() throws {
        let letters = try Self.letters()
        for output in [
            OutputOptions(format: .webp), OutputOptions(format: .webp, quality: 60),
            OutputOptions(format: .webp, maxBytes: 100_000), OutputOptions(format: .webp, target: .medium),
        ] {
            let result = try produce(letters.png(), output: output)
            #expect(try Pixels(result.body).samples == Pixels(letters).samples)
            let isReported = output.maxBytes != nil || output.target != nil
            #expect(result.quality == (isReported ? ResultQuality(value: nil) : nil))
        }
    }

    /// A chart of more pixels than a thumbnail.
    static func chart() throws -> VipsImage {
        try Drawing.image(560, 480) { x, y in
            if x % 70 < 2 || y % 50 < 2 { return [200, 205, 210] }
            return (x * y / 97) % 400 > y * 2 / 3 + 90 ? [210, 60, 50] : [255, 255, 255]
        }
    }

    @Test(arguments: [OutputFormat.webp, .jxl])
    func `A chart of any size is exact where that is smaller, and lossy where there is no time for both`(
        _ format: OutputFormat
    ) throws {
        let (chart, output) = (try Self.chart(), OutputOptions(format: format))
        let source = try chart.png()
        let result = try produce(source, output: output)
        #expect(try Pixels(result.body).samples == Pixels(chart).samples)
        let job = ImageJob(source: source, chain: TransformChain(Recipe()), output: output)
        let limit = Int(try InProcessImageProcessor().plan(job).expectedWork) - 1
        let lossy = try produce(source, output: output, limits: PixelLimits(maxProcessingMilliseconds: limit))
        #expect(try Pixels(lossy.body).samples != Pixels(chart).samples)
        #expect(result.body.readableBytes * 3 < lossy.body.readableBytes)
    }

    /// The samples of a frame without alpha.
    private func colors(_ body: ByteBuffer, _ frame: Int) throws -> [UInt8] {
        let pixels = try Pixels(body, frame: frame)
        return stride(from: 0, to: pixels.samples.count, by: pixels.bands).flatMap { pixels.samples[$0..<($0 + 3)] }
    }

    @Test func `An animation of a screen is exact where that is smaller, and one of noise is lossy`() throws {
        let screens = try (0..<5).map { frame in
            try Drawing.image(160, 120) { x, y in
                y < 20 * (frame + 1) && (x / 3 + y / 5) % 3 == 0 ? [220, 220, 220] : [30, 30, 40]
            }
        }
        let noise = try (0..<5).map { frame in
            try Drawing.image(64, 48) { x, y in
                (1...3).map { UInt8((x * 7919 + y * 104_729 + x * y * 1_299_709 + frame * 31) * $0 % 251) }
            }
        }
        for (frames, isExact) in [(screens, true), (noise, false)] {
            let webp = try Drawing.animation(frames)
            for source in [webp, try produce(webp, output: OutputOptions(format: .gif)).body] {
                let result = try produce(source, output: OutputOptions(format: .webp))
                let isEqual = try (0..<result.frames).allSatisfy { frame in
                    try colors(result.body, frame) == colors(source, frame)
                }
                #expect(result.frames == 5 && isEqual == isExact)
            }
        }
    }

    @Test func `Encoding without loss is not tried if it may take longer than the plan allows`() throws {
        /// Runs of three pixels in so many colors, eight rows alike.
        func runs(_ colors: Int) throws -> VipsImage {
            try Drawing.image(300, 200) { x, y in
                let (column, row) = (x / 3, y / 8)
                let color = (column * 7919 + row * row * 31 + column * row * 13) % colors
                return [UInt8(color * 37 % 256), UInt8(color * 91 % 256), UInt8(color / 4)]
            }
        }
        for (colors, isTried) in [(200, true), (1000, false)] {
            let image = try runs(colors)
            let content = try PixelContent(of: image)
            let flat = try #require(content.flatColors)
            #expect((flat.count > 256) == !isTried && flat.changes * 2 < flat.area)
            let job = ImageJob(
                source: try image.png(), chain: TransformChain(Recipe()), output: OutputOptions(format: .webp))
            let allowed = try InProcessImageProcessor().plan(job).choiceWork
            let nanoseconds = try #require(OutputFormat.webp.row.losslessNanoseconds?(flat))
            let predicted = OutputFormat.webp.choiceWork(nanoseconds, EncoderEfforts())
            #expect(allowed > 0 && (predicted <= allowed) == isTried)
        }
        let jxl = try #require(OutputFormat.jxl.row.losslessNanoseconds)
        #expect(jxl(FlatColors(count: 257, changes: 1, area: 9, frameArea: 9)) == .infinity)
    }

    @Test func `What equals the frame before is no change`() throws {
        let frame = try Self.letters()
        let two = try VipsImage.stacked([frame, frame]).setting(ints: ["page-height": frame.height])
        let (one, both) = (try PixelContent(of: frame).flatColors, try PixelContent(of: two).flatColors)
        #expect(try #require(one).changes == #require(both).changes)
        #expect(both?.area == 2 * 200 * 80 && both?.frameArea == 200 * 80)
    }

    @Test func `An image that is larger without loss is lossy`() throws {
        let noisy = try Drawing.image(24, 24) { x, y in
            let noise = (x * 7919 + y * 104_729 + x * y * 1_299_709) % 251
            return [UInt8(noise), UInt8((noise * 3) % 256), UInt8((noise * 7) % 256)]
        }
        let result = try produce(noisy.png(), output: OutputOptions(format: .webp, quality: 10))
        let lossless = try produce(noisy.png(), output: OutputOptions(format: .webp, lossless: true))
        #expect(result.body.readableBytes < lossless.body.readableBytes)
        let photo = try VipsLoader.jpeg.withImage(of: Fixture.image("formats/photo.jpg")) { lazy throws(VipsError) in
            try lazy.rendered()
        }
        #expect(try PixelContent(of: photo) == PixelContent())
    }

    /// The sampling factors of the first component of a JPEG.
    private func sampling(_ body: ByteBuffer) throws -> UInt8 {
        let bytes = Array(body.readableBytesView)
        let start = try #require(bytes.firstRange(of: [0xFF, 0xC0, 0x00, 0x11]))
        return bytes[start.lowerBound + 11]
    }

    @Test func `Chroma is full for drawings, and as asked for`() throws {
        let (letters, photo) = (try Self.letters().png(), try Fixture.image("formats/photo.jpg"))
        func sampling(_ source: ByteBuffer, _ quality: Int? = nil, _ chroma: ChromaSampling? = nil) throws -> UInt8 {
            let output = OutputOptions(format: .jpeg, quality: quality, chroma: chroma)
            return try self.sampling(produce(source, .box(200), output: output).body)
        }
        #expect(try sampling(letters) == 0x11 && sampling(letters, 50) == 0x11 && sampling(letters, 95, .half) == 0x22)
        #expect(try sampling(photo) == 0x22 && sampling(photo, 90) == 0x11)
        #expect(try sampling(photo, 50, .full) == 0x11 && sampling(photo, 95, .half) == 0x22)
    }

    @Test func `Full chroma shows in AVIF and WebP too`() throws {
        let letters = try Self.letters()
        let original = try Pixels(letters)
        for format in [OutputFormat.avif, .webp] {
            let distances = try [ChromaSampling.half, .full].map { chroma in
                let output = OutputOptions(format: format, quality: 20, chroma: chroma)
                return try Pixels(produce(letters.png(), output: output).body).meanDistance(to: original)
            }
            #expect(distances[1] <= distances[0], "\(format): \(distances)")
        }
    }

    @Test func `Chroma is an option of lossy JPEG, WebP and AVIF only`() {
        for format in [OutputFormat.jpeg, .webp, .avif] {
            let full = OutputOptions(format: format, chroma: .full)
            #expect(full.chroma == .full && full.key != OutputOptions(format: format).key)
            #expect(full.key != OutputOptions(format: format, chroma: .half).key)
        }
        for format in [OutputFormat.png, .gif, .jxl, .tiff, .json] {
            #expect(OutputOptions(format: format, chroma: .full) == OutputOptions(format: format))
        }
        let lossless = OutputOptions(format: .webp, lossless: true)
        #expect(OutputOptions(format: .webp, chroma: .full, lossless: true) == lossless)
        #expect(OutputOptions(chroma: .half).converted(to: .jpeg) == OutputOptions(format: .jpeg, chroma: .half))
    }
}
