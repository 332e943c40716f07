import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The transparency of AVIF, against PNG's.
struct AVIFAlphaTests {
    /// A picture with hard and soft edges, letters of one pixel, and clear parts.
    private func drawing() throws -> ByteBuffer {
        try Drawing.image(160, 96) { x, y in
            let distance = (Double((x - 40) * (x - 40) + (y - 48) * (y - 48))).squareRoot()
            let alpha: Double =
                switch x {
                case ..<80: min(max(40.5 - distance, 0), 1) * 255
                case ..<120: (x / 2 + y / 3) % 3 == 0 ? 255 : 0
                default: Double((x - 120) * 6)
                }
            return [UInt8(x), UInt8(255 - y), UInt8(y * 2), UInt8(alpha)]
        }.png()
    }

    @Test(arguments: [10, 40, 68, 95])
    func `Alpha is exact at every quality`(_ quality: Int) throws {
        let source = try drawing()
        let exact = try Pixels(produce(source).body)
        let options = OutputOptions(format: .avif, quality: quality)
        let pixels = try Pixels(produce(source, output: options).body)
        #expect(pixels.size == exact.size)
        for place in stride(from: 3, to: exact.samples.count, by: 4) {
            #expect(exact.samples[place] == pixels.samples[place])
        }
    }

    @Test func `The quality of the colors is the requested one`() throws {
        let source = try drawing()
        let sizes = try [20, 68, 95].map { quality in
            try produce(source, output: OutputOptions(format: .avif, quality: quality)).body.readableBytes
        }
        #expect(sizes == sizes.sorted() && Set(sizes).count == 3)
    }

    @Test func `EXIF beside alpha and without loss states the size of the image`() throws {
        let source = try Drawing.flat(24, 16, [20, 200, 90, 128])
            .setting(texts: ["exif-ifd0-Copyright": "Zoe 2024 (ASCII)"])
        let webp = try VipsSaver.webp.encode(source, ["lossless": true])
        for lossless in [false, true] {
            let file = try produce(webp, output: OutputOptions(format: .avif, lossless: lossless)).body
            let sides = try VipsLoader.heif.withImage(of: file) { image in
                ["X", "Y"].map { image.text("exif-ifd2-Pixel\($0)Dimension")?.prefix { $0 != " " } }
            }
            #expect(sides == ["24", "16"])
        }
    }

    @Test func `A copyright notice is kept beside alpha and without loss`() throws {
        let source = try Drawing.flat(24, 16, [20, 200, 90, 128])
            .setting(texts: ["exif-ifd0-Copyright": "Zoe 2024 (ASCII)"])
        let webp = try VipsSaver.webp.encode(source, ["lossless": true])
        for lossless in [false, true] {
            let file = try produce(webp, output: OutputOptions(format: .avif, lossless: lossless)).body
            #expect(try VipsLoader.heif.withImage(of: file) { ImageRights(of: $0).copyright } == "Zoe 2024")
        }
    }
}
