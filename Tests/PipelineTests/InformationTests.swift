import DarkroomHTTPCaching
import DarkroomRequests
import DarkroomStore
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Documents about a source, which are cached like variants unless only the header was read.
@Suite(.timeLimit(.minutes(5)))
struct InformationTests {
    private func told(_ details: ImageDetails = []) throws -> ImageRequest {
        try ImageRequest(url: "http://example.com/a.png", output: OutputOptions(format: .json, details: details))
    }

    @Test func `A result that was read from the header is answered and not stored`() async throws {
        let bench = try Bench()
        let first = try await bench.pipeline.image(for: told())
        #expect(first.format == .json)
        #expect(first.cache == CacheReport(forwarded: .miss, originStatus: 200))
        #expect(bench.disk.count == 0)
        #expect(await bench.pipeline.location(of: try told()) == CacheLocation())
        await bench.settle()
        let second = try await bench.pipeline.image(for: told(.exif))
        #expect(second.cache.forwarded == .miss)
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `The header's document of a cached original is cached too`() async throws {
        let bench = try Bench()
        try await bench.ask()
        let first = try await bench.pipeline.image(for: told())
        #expect(first.cache == CacheReport(original: .memory, isStored: true))
        #expect(try await bench.pipeline.image(for: told()).cache == CacheReport(variant: .memory))
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `Details take a decode, so the original and the document are stored`() async throws {
        let bench = try Bench()
        let first = try await bench.pipeline.image(for: told(.color))
        #expect(first.cache == CacheReport(forwarded: .miss, originStatus: 200, isStored: true))
        #expect(try await bench.pipeline.image(for: told(.color)).cache == CacheReport(variant: .memory))
        #expect(try await bench.ask().cache == CacheReport(original: .memory, isStored: true))
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `A corrupt source with a sound header is described, and still refused as an image`() async throws {
        var broken = try Pictures.png(width: 300, height: 300)
        broken = broken.getSlice(at: 0, length: broken.readableBytes * 6 / 10) ?? broken
        let disk = MemoryDisk()
        let pipeline = ImagePipeline(
            origin: FakeOrigin(broken), memory: MemoryStore(budgetBytes: 1 << 20), disk: disk)
        #expect(try await pipeline.image(for: told()).format == .json)
        await #expect(throws: PipelineError.corrupt) { _ = try await pipeline.image(for: told(.blurHash)) }
        await #expect(throws: PipelineError.self) {
            _ = try await pipeline.image(for: ImageRequest(url: "http://example.com/a.png"))
        }
        #expect(disk.count == 0)
    }

    @Test func `Reading a header does not clear a remembered failure`() async throws {
        var broken = try Pictures.png(width: 300, height: 300)
        broken = broken.getSlice(at: 0, length: broken.readableBytes * 6 / 10) ?? broken
        let origin = FakeOrigin(broken)
        let pipeline = ImagePipeline(
            origin: origin, memory: MemoryStore(budgetBytes: 1 << 20), now: { WallClock.start })
        let picture = try ImageRequest(url: "http://example.com/a.png")
        await #expect(throws: PipelineError.corrupt) { _ = try await pipeline.image(for: picture) }
        var insisting = try told()
        insisting.pages = PageSelection(first: 1, count: 1)
        insisting.cache.policy = RequestCachePolicy(mode: .noStore, allowsForcedRefresh: true)
        _ = try? await pipeline.image(for: insisting)
        let fetches = origin.fetches.value
        await #expect(throws: PipelineError.self) { _ = try await pipeline.image(for: picture) }
        #expect(origin.fetches.value == fetches)
    }
}
