import DarkroomRequests
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomTransforms

/// Images for which libaom would keep a table of all blocks.
struct ScreenContentTests {
    /// Two tones in so many of 16 columns of blocks, and one tone in the others.
    private static func dithered(_ columns: Int, alpha: Bool = false) throws -> VipsImage {
        try Drawing.image(256, 256) { x, y in
            let value: UInt8 = x < columns * 16 && (x + y) % 2 == 0 ? 200 : 40
            return alpha ? [90, 90, 90, value] : [value, value, value]
        }
    }

    private static func effort(_ effort: Int, for image: VipsImage, isLossless: Bool = false) throws -> Int {
        try ScreenContent.effort(effort, for: image, isLossless: isLossless)
    }

    @Test func `An image with few colors in many blocks is encoded at effort 1, and others at the configured effort`()
        throws
    {
        for alpha in [false, true] {
            #expect(try Self.effort(2, for: Self.dithered(16, alpha: alpha)) == 1)
            #expect(try Self.effort(3, for: Self.dithered(2, alpha: alpha)) == 1)
            #expect(try Self.effort(2, for: Self.dithered(1, alpha: alpha)) == 2)
            #expect(try Self.effort(2, for: Self.dithered(0, alpha: alpha)) == 2)
        }
        #expect(try Self.effort(0, for: Self.dithered(16)) == 0)
        #expect(try Self.effort(4, for: Self.dithered(16)) == 4)
    }

    @Test func `Blocks of more than four tones do not count, nor do tones that hardly differ`() throws {
        let five = try Drawing.image(64, 64) { x, _ in Array(repeating: UInt8(x % 5 * 50), count: 3) }
        let four = try Drawing.image(64, 64) { x, _ in Array(repeating: UInt8(x % 4 * 50), count: 3) }
        let alike = try Drawing.image(64, 64) { x, _ in Array(repeating: UInt8(100 + x % 2), count: 3) }
        #expect(try [five, four, alike].map { try Self.effort(2, for: $0) } == [2, 1, 2])
    }

    @Test func `Without loss, green decides, which is encoded first`() throws {
        let green = try Drawing.image(64, 64) { x, y in [UInt8(x * 4), (x + y) % 2 == 0 ? 200 : 40, UInt8(y * 4)] }
        let red = try Drawing.image(64, 64) { x, y in [(x + y) % 2 == 0 ? 200 : 40, UInt8(x * 2 + y * 2), 9] }
        for (image, expected) in [(green, 1), (red, 2)] {
            #expect(try Self.effort(2, for: image) == 2)
            #expect(try Self.effort(2, for: image, isLossless: true) == expected)
        }
        let alpha = try Self.dithered(16, alpha: true)
        #expect(try Self.effort(2, for: alpha, isLossless: true) == 1)
    }

    @Test func `An image smaller than a block keeps its effort`() throws {
        #expect(try Self.effort(2, for: Drawing.image(15, 15) { x, _ in [UInt8(x % 2 * 200), 0, 0] }) == 2)
    }

    @Test func `A dithered drawing is encoded with effort 1, and a photograph with its own effort`() throws {
        func bytes(_ source: ByteBuffer, _ effort: Int) throws -> ByteBuffer {
            var job = ImageJob(
                source: source, chain: TransformChain(.box(256)), output: OutputOptions(format: .avif))
            job.efforts = EncoderEfforts(avif: effort)
            return try InProcessImageProcessor().process(job) { false }.body
        }
        let (drawing, photograph) = (try Self.dithered(16).png(), try Fixture.image("formats/photo.jpg"))
        #expect(try bytes(drawing, 2) == bytes(drawing, 1))
        #expect(try bytes(photograph, 2) != bytes(photograph, 1))
    }
}
