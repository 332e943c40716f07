import DarkroomRequests
import NIOCore
import Testing

@testable import DarkroomTransforms

/// The time that each stage of processing took.
struct ProcessingStagesTests {
    private let cache = DecodedCache(budgetBytes: 64 << 20)

    private func process(_ format: OutputFormat) throws -> (ProcessedImage, took: Duration) {
        let source = try Drawing.flat(200, 100, [1, 2, 3]).jpeg()
        let job = ImageJob(
            source: source, identity: "a", cachesDecoded: true, chain: TransformChain(.box(50)),
            output: OutputOptions(format: format))
        let start = ContinuousClock.now
        let image = try InProcessImageProcessor(decoded: cache).process(job) { false }
        return (image, start.duration(to: .now))
    }

    @Test func `Decoding, transforming and encoding take all of the time`() throws {
        let (image, took) = try process(.webp)
        let stages = try #require(image.stages)
        let (decode, transform) = (try #require(stages.decode), try #require(stages.transform))
        for stage in [decode, transform, stages.encode] { #expect(stage > .zero) }
        #expect(decode + transform + stages.encode <= took)
    }

    @Test func `Cached pixels are not decoded, and a text has no stage of transforming`() throws {
        _ = try process(.webp)
        let (image, _) = try process(.webp)
        #expect(image.stages?.decode == nil)
        #expect(image.stages?.transform != nil)
        let text = try process(.blurHash).0
        #expect(text.stages?.transform == nil)
        #expect(try #require(text.stages).encode > .zero)
    }
}
