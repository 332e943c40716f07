import DarkroomRequests
import DarkroomVips
import NIOCore
import Synchronization
import Testing

@testable import DarkroomTransforms

struct InterruptTests {
    private func big() throws -> ByteBuffer {
        try VipsImage.build("black", ["width": 3000, "height": 3000, "bands": 3])
            .applying("copy", ["interpretation": "srgb"]).jpeg()
    }

    @Test func `A decode ends when it is interrupted`() throws {
        let job = ImageJob(source: try big(), chain: TransformChain(Recipe()), output: OutputOptions(format: .jpeg))
        #expect(throws: ImageProcessingError.interrupted) {
            try InProcessImageProcessor().process(job, interrupt: { true })
        }
    }

    @Test func `The chain and the encoder end too, after the decoder has finished`() throws {
        struct Passed: Transform {
            let flag: Flag
            var key: String { "passed" }
            func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames {
                flag.raise()
                return image
            }
        }
        let flag = Flag()
        var chain = TransformChain(.with { $0.blur = Blur(sigma: 20) })
        chain.transforms.append(Passed(flag: flag))
        let job = ImageJob(source: try big(), chain: chain, output: OutputOptions(format: .png))
        #expect(throws: ImageProcessingError.interrupted) {
            try InProcessImageProcessor().process(job, interrupt: { flag.isRaised })
        }
        #expect(flag.isRaised)
    }

    @Test func `No further encode begins after an interruption, whichever library encodes`() throws {
        let image = try Drawing.flat(24, 16, [20, 200, 90, 128]).rendered()
        for options in [OutputOptions(format: .avif, maxBytes: 1), OutputOptions(format: .avif, lossless: true)] {
            let encoder = DarkroomTransforms.Encoder(options, format: .avif) { true }
            let metadata = ResultMetadata(of: ImageFrames(frames: [image]), .none, in: .avif)
            let pass = EncoderPass(encoder: encoder, saver: .heif, pixels: image, metadata: metadata)
            #expect(throws: VipsError.self) { try pass.encode() }
        }
    }

    final class Flag: Sendable {
        private let value = Mutex(false)
        var isRaised: Bool { value.withLock(\.self) }
        func raise() { value.withLock { $0 = true } }
    }
}
