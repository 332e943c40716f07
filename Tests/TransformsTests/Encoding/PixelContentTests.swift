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
