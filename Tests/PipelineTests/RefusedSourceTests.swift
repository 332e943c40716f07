import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import Testing

@testable import DarkroomPipeline

/// Sources that settings of today forbid, with entries from before.
struct RefusedSourceTests {
    private static let refusal = PipelineError.notAllowed("The source's host is not allowed.")

    @Test func `A cached image is refused as soon as its source is`() async throws {
        let bench = try Bench(.control("max-age=600"))
        #expect(try await bench.ask().cache.forwarded == .miss)
        #expect(try await bench.ask().cache.forwarded == nil)
        bench.origin.refuse("/a.png", .notAllowed(.host))
        #expect(await bench.failure(of: try ImageRequest(url: "http://example.com/a.png")) == Self.refusal)
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `A lookup gives no cached image of a refused source, and one that waits is refused`() async throws {
        let bench = try Bench(.control("max-age=600"))
        try await bench.ask()
        let lookup = bench.pipeline.lookup(for: try bench.request())
        #expect(bench.pipeline.imageNow(lookup) != nil)
        bench.origin.refuse("/a.png", .notAllowed(.host))
        #expect(bench.pipeline.imageNow(lookup) == nil)
        let other = bench.pipeline.lookup(for: try bench.request(width: 10))
        guard case .waits(let image) = bench.pipeline.ask(other, client: "", priority: .normal) else {
            Issue.record("It does not wait.")
            return
        }
        await #expect(throws: Self.refusal) { try await image() }
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `A cached mark is refused as soon as its source is`() async throws {
        let bench = try Bench.withMark()
        _ = try await bench.pipeline.image(for: bench.markedRequest())
        bench.origin.refuse(Bench.markPath, .notAllowed(.host))
        #expect(await bench.failure(of: try bench.markedRequest()) == .mark(Self.refusal))
    }

    @Test func `A cached fallback is refused as soon as its source is`() async throws {
        let bench = try Bench(.control("max-age=600"))
        bench.origin.answer("/gone.png", .status(404))
        var request = try ImageRequest(url: "http://example.com/gone.png")
        request.fallback = try SourceURL(parsing: "http://example.com/a.png")
        #expect(try await bench.pipeline.image(for: request).fallbackReason == .notFound(status: 404))
        bench.origin.refuse("/a.png", .notAllowed(.host))
        #expect(await bench.failure(of: request) == Self.refusal)
    }
}
