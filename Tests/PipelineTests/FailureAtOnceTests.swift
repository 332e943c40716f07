import DarkroomCache
import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomPipeline

/// A remembered failure is answered without waiting only if waiting would end with it too.
@Suite(.timeLimit(.minutes(5)))
struct FailureAtOnceTests {
    private static let missing = PipelineError.remembered(.notFound(status: 404), retryAfterSeconds: 60)

    /// A bench whose source has failed once.
    private func failed(
        _ answer: FakeOrigin.Answer = .status(404), keyFilter: any CacheKeyFilter = CanonicalURLFilter()
    ) async throws -> Bench {
        let bench = try Bench(.control("max-age=600"), keyFilter: keyFilter)
        bench.origin.answer(answer)
        _ = try await bench.failure()
        return bench
    }

    /// Expects that a request fails at once, as it would after waiting.
    private func expectFailure(
        _ expected: PipelineError?, of request: ImageRequest, _ bench: Bench,
        at location: SourceLocation = #_sourceLocation
    ) async {
        let fetches = bench.origin.fetches.value
        let failure = bench.pipeline.failureNow(of: request)
        #expect(failure == expected && failure != nil, sourceLocation: location)
        #expect(await bench.failure(of: request) == failure, sourceLocation: location)
        #expect(bench.origin.fetches.value == fetches, sourceLocation: location)
    }

    @Test(arguments: [404, 410, 403, 429, 500, 503])
    func `A status that is remembered fails a request at once, until it expires`(status: Int) async throws {
        let bench = try await failed(.status(status, [.cacheControl: "max-age=60"]))
        let request = try bench.request()
        await expectFailure(bench.pipeline.failureNow(of: request), of: request, bench)
        await expectFailure(bench.pipeline.failureNow(of: request), of: try bench.request(width: 7), bench)
        bench.wall.advance(seconds: 61)
        #expect(bench.pipeline.failureNow(of: request) == nil)
    }

    @Test(arguments: [PurgeTarget.source(.example), .host("example.com"), .everything])
    func `A purge ends it at once`(target: PurgeTarget) async throws {
        let bench = try await failed()
        let request = try bench.request()
        await expectFailure(Self.missing, of: request, bench)
        await bench.pipeline.purge(target)
        #expect(bench.pipeline.failureNow(of: request) == nil)
    }

    @Test func `Only a client with permission asks the origin again`() async throws {
        let bench = try await failed()
        let noCache: HTTPFields = [.cacheControl: "no-cache"]
        await expectFailure(
            Self.missing, of: try bench.request(directives: noCache, allowsForcedRefresh: false), bench)
        #expect(bench.pipeline.failureNow(of: try bench.request(directives: noCache)) == nil)
        #expect(bench.pipeline.failureNow(of: try bench.request(mode: .reload)) == nil)
    }

    @Test func `A request that accepts only a cached image fails for that reason, whatever is remembered`()
        async throws
    {
        let bench = try await failed()
        await expectFailure(.notCached, of: try bench.request(mode: .onlyIfCached), bench)
        let other = try bench.request("http://example.com/b.png", mode: .onlyIfCached)
        await expectFailure(.notCached, of: other, bench)
    }

    @Test func `A fallback is waited for, if it replaces this failure`() async throws {
        let bench = try await failed()
        var request = try bench.request()
        request.fallback = try SourceURL(parsing: "http://example.com/b.png")
        #expect(bench.pipeline.failureNow(of: request) == nil)
        request.fallbackStatuses = [410]
        await expectFailure(Self.missing, of: request, bench)
        request.fallbackStatuses = [404]
        #expect(bench.pipeline.failureNow(of: request) == nil)
    }

    @Test func `Content that does not decode fails the requests that need it, and no others`() async throws {
        let bench = try Bench(.control("max-age=600", etag: "t"))
        bench.processing.damage(page: 2)
        var request = try bench.request()
        request.pages.first = 2
        #expect(await bench.failure(of: request) == .corrupt)
        await expectFailure(.remembered(.corrupt, retryAfterSeconds: 600), of: request, bench)
        #expect(bench.pipeline.failureNow(of: try bench.request()) == nil)
    }

    @Test func `A known image is waited for: it may be stale, and useful`() async throws {
        let bench = try Bench(.control("max-age=60, stale-if-error=600"))
        try await bench.ask()
        await bench.settle()
        bench.origin.answer(.status(500))
        bench.wall.advance(seconds: 61)
        for _ in 0..<2 {
            #expect(bench.pipeline.failureNow(of: try bench.request()) == nil)
            #expect(try await bench.ask().cache.staleBecause != nil)
        }
    }

    @Test func `Another address with the same key does not fail`() async throws {
        let rule = QueryDroppingFilter.Rule(hostPattern: "example.com", parameterPatterns: ["token"])
        let bench = try await failed(keyFilter: QueryDroppingFilter(rules: [rule]))
        await expectFailure(Self.missing, of: try bench.request(), bench)
        #expect(bench.pipeline.failureNow(of: try bench.request("http://example.com/a.png?token=x")) == nil)
    }

    @Test func `A source that is refused today is refused, not missing`() async throws {
        let bench = try await failed()
        let lookup = bench.pipeline.lookup(for: try bench.request())
        bench.origin.refuse("/a.png", .notAllowed(.host))
        guard case .waits(let image) = bench.pipeline.ask(lookup, client: "", priority: .normal) else {
            Issue.record("It was said at once.")
            return
        }
        await #expect(throws: PipelineError.notAllowed("The source's host is not allowed.")) { try await image() }
    }

    @Test func `An image that is drawn is looked at first`() async throws {
        let bench = try Bench.withMark()
        bench.origin.answer("/a.png", .status(404))
        let request = try bench.markedRequest()
        #expect(bench.pipeline.failureNow(of: request) == nil)
        #expect(await bench.failure(of: request) == .notFound(status: 404))
        await bench.settle()
        await expectFailure(Self.missing, of: request, bench)
        bench.origin.answer(Bench.markPath, .status(404))
        bench.wall.advance(seconds: 601)
        #expect(await bench.failure(of: request) == .mark(.notFound(status: 404)))
        #expect(bench.pipeline.failureNow(of: request) == nil)
    }
}
