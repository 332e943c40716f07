import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// How long each kind of failure is remembered.
@Suite(.timeLimit(.minutes(5)))
struct FailureMemoryTests {
    @Test(
        arguments: [
            (HTTPFields(), nil), ([.cacheControl: "max-age=10"], 10), ([.cacheControl: "max-age=300"], 300),
        ] as [(HTTPFields, Double?)])
    func `A missing source is remembered as long as its origin says, else a minute`(
        fields: HTTPFields, stated: Double?
    ) async throws {
        let bench = try Bench()
        bench.origin.answer(.status(404, fields))
        let failure = PipelineError.notFound(status: 404, lifetime: stated.map { .seconds($0) })
        #expect(try await bench.failure() == failure)
        bench.wall.advance(seconds: (stated ?? 60) - 1)
        #expect(try await bench.failure() == .remembered(failure, retryAfterSeconds: 1))
        #expect(bench.origin.fetches.value == 1)
        bench.wall.advance(seconds: 2)
        _ = try await bench.failure()
        #expect(bench.origin.fetches.value == 2)
    }

    @Test(arguments: ["no-store", "private", "no-cache", "private, max-age=60", "max-age=0"])
    func `An origin may forbid caches to know that a source is missing`(control: String) async throws {
        let bench = try Bench()
        bench.origin.answer(.status(404, [.cacheControl: control]))
        for count in 1...2 {
            #expect(try await bench.failure() == .notFound(status: 404, lifetime: .zero))
            #expect(bench.origin.fetches.value == count)
        }
    }

    @Test func `A missing source that was never cached costs the disk nothing`() async throws {
        let bench = try Bench()
        bench.origin.answer(.status(404))
        _ = try await bench.failure()
        #expect(bench.disk.removals.value == 0)
    }

    @Test func `A failing origin is contacted again after 1, 2, 4 … 60 seconds`() async throws {
        let bench = try Bench()
        bench.origin.answer(.status(500))
        for (count, seconds) in [1.0, 2, 4, 8, 16, 32, 60, 60].enumerated() {
            _ = try await bench.failure()
            #expect(bench.origin.fetches.value == count + 1)
            bench.wall.advance(seconds: seconds - 0.1)
            #expect(try await bench.failure()?.cause != nil)
            #expect(bench.origin.fetches.value == count + 1)
            bench.wall.advance(seconds: 0.2)
        }
        bench.origin.answer(.picture(try Pictures.red.get()))
        try await bench.ask()
        bench.origin.answer(.status(500))
        _ = try await bench.failure(mode: .reload)
        bench.wall.advance(seconds: 1.1)
        _ = try await bench.failure(mode: .reload)
        #expect(bench.origin.fetches.value == 11)
    }

    @Test func `Retry-After is honored`() async throws {
        let bench = try Bench()
        bench.origin.answer(.status(503, [.retryAfter: "120"]))
        _ = try await bench.failure()
        bench.wall.advance(seconds: 119)
        #expect(try await bench.failure()?.cause != nil)
        #expect(bench.origin.fetches.value == 1)
        bench.wall.advance(seconds: 2)
        _ = try await bench.failure()
        #expect(bench.origin.fetches.value == 2)
    }

    @Test(arguments: [OriginError.notAllowed(.address), .loop, .timedOut(.waiting)])
    func `Our own refusals are not remembered`(error: OriginError) async throws {
        let bench = try Bench()
        bench.origin.answer(.failure(error))
        for _ in 0..<2 { #expect(try await bench.failure() == PipelineError(error)) }
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `A canceled request leaves no failure behind`() async throws {
        let gate = Gate()
        let bench = try Bench(gate: gate)
        let client = Task { try? await bench.ask() }
        await bench.origin.fetches.reaches(1)
        client.cancel()
        _ = await client.value
        await bench.origin.cancelled.reaches(1)
        gate.open()
        try await bench.ask()
    }

    @Test func `Undecodable bytes are neither downloaded nor decoded again while they are fresh`() async throws {
        let bench = try Bench()
        bench.origin.answer(.picture(ByteBuffer(string: "hello"), .control("max-age=100", etag: "t")))
        #expect(try await bench.failure() == .unsupported)
        bench.wall.advance(seconds: 50)
        #expect(try await bench.failure() == .remembered(.unsupported, retryAfterSeconds: 50))
        bench.wall.advance(seconds: 51)
        // A 304 confirms that the content is the same.
        #expect(try await bench.failure()?.cause == .unsupported)
        #expect(bench.origin.fetches.value == 2)
        #expect(bench.origin.requests.last?.validators[.ifNoneMatch] == "\"t\"")
        #expect(bench.processing.runs.value == 1)
    }

    @Test func `The same undecodable bytes are not decoded again, but new bytes are`() async throws {
        let bench = try Bench()
        bench.origin.answer(.picture(ByteBuffer(string: "hello"), .control("max-age=10")))
        _ = try await bench.failure()
        bench.wall.advance(seconds: 11)
        _ = try await bench.failure()
        #expect(bench.processing.runs.value == 1)
        bench.origin.answer(.picture(try Pictures.red.get(), .control("max-age=10")))
        bench.wall.advance(seconds: 11)
        try await bench.ask()
        #expect(bench.processing.runs.value == 2)
    }

    @Test func `Undecodable bytes are tried again after an hour`() async throws {
        let bench = try Bench()
        bench.origin.answer(.picture(ByteBuffer(string: "hello"), .control("max-age=86400", etag: "t")))
        _ = try await bench.failure()
        bench.wall.advance(seconds: 3_599)
        _ = try await bench.failure()
        #expect(bench.processing.runs.value == 1)
        bench.wall.advance(seconds: 2)
        _ = try await bench.failure()
        #expect(bench.processing.runs.value == 2)
    }

    @Test func `A corrupt page is tried once, while other pages are made from the stored original`() async throws {
        let bench = try Bench(.control("max-age=86400", etag: "t"))
        bench.processing.damage(page: 2)
        try await bench.ask()
        var damaged = try bench.request()
        damaged.pages.first = 2
        let request = damaged
        for _ in 0..<3 {
            await #expect(throws: PipelineError.self) { _ = try await bench.pipeline.image(for: request) }
        }
        #expect(bench.processing.runs.value == 2)
        #expect(try await bench.ask(width: 10).cache.original == .memory)
        // A confirmation of the content confirms the failure.
        try await bench.ask(mode: .noCache)
        await #expect(throws: PipelineError.self) { _ = try await bench.pipeline.image(for: request) }
        #expect(bench.processing.runs.value == 3)
        bench.wall.advance(seconds: 3_601)
        await #expect(throws: PipelineError.corrupt) { _ = try await bench.pipeline.image(for: request) }
        #expect(bench.processing.runs.value == 4)
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `Frames that only an animation shows do not condemn the still image`() async throws {
        let bench = try Bench(.control("max-age=86400", etag: "t"))
        var animation = try bench.request()
        animation.output = OutputOptions(format: .webp)
        bench.processing.damage(page: animation.pages.first)
        let request = animation
        await #expect(throws: PipelineError.corrupt) { _ = try await bench.pipeline.image(for: request) }
        bench.processing.damage(page: .max)
        animation.output = OutputOptions(format: .jpeg)
        _ = try await bench.pipeline.image(for: animation)
    }

    @Test func `A failure of one address does not fail another address with the same key`() async throws {
        let rule = QueryDroppingFilter.Rule(hostPattern: "example.com", parameterPatterns: ["token"])
        let bench = try Bench(.control("max-age=60"), keyFilter: QueryDroppingFilter(rules: [rule]))
        bench.origin.answer(.status(403))
        #expect(try await bench.failure("http://example.com/a.png?token=bad") != nil)
        bench.origin.answer(.picture(try Pictures.red.get()))
        try await bench.ask("http://example.com/a.png?token=good")
    }

    @Test(arguments: [PurgeTarget.source(.example), .host("example.com"), .everything])
    func `A purge lets content that did not decode be tried again`(target: PurgeTarget) async throws {
        let bench = try Bench(.control("max-age=86400"))
        bench.processing.damage(page: 0)
        #expect(try await bench.failure() == .corrupt)
        bench.processing.damage(page: .max)
        await bench.pipeline.purge(target)
        #expect(bench.processing.forgotten.count == 1)
        try await bench.ask()
    }

    @Test func `A corrupt page that is requested first does not prevent the others`() async throws {
        let bench = try Bench(.control("max-age=600", etag: "t"))
        bench.processing.damage(page: 2)
        var request = try bench.request()
        request.pages.first = 2
        let damaged = request
        await #expect(throws: PipelineError.corrupt) { _ = try await bench.pipeline.image(for: damaged) }
        try await bench.ask()
    }

    @Test func `Content that decodes clears the remembered failure`() async throws {
        let bench = try Bench()
        bench.origin.answer(.picture(ByteBuffer(string: "hello"), .control("max-age=600")))
        #expect(try await bench.failure() == .unsupported)
        bench.origin.answer(.picture(try Pictures.red.get(), .control("max-age=600")))
        try await bench.ask(mode: .reload, store: .none)
        try await bench.ask()
    }

    @Test func `A stale image is served if new content does not decode, in other sizes too`() async throws {
        let bench = try Bench(.control("max-age=60, stale-if-error=600", etag: "a"))
        let old = try await bench.ask()
        bench.origin.answer(.picture(ByteBuffer(string: "hello"), .control("max-age=600", etag: "b")))
        bench.wall.advance(seconds: 61)
        for width in [20, 10] {
            let stale = try await bench.ask(width: width)
            #expect(stale.cache.staleBecause?.cause == .unsupported)
            #expect((stale.digest == old.digest) == (width == 20))
        }
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `Reload fetches the content although the last one did not decode`() async throws {
        let bench = try Bench()
        bench.origin.answer(.picture(ByteBuffer(string: "hello"), .control("max-age=600", etag: "t")))
        _ = try await bench.failure()
        #expect(try await bench.failure(mode: .reload)?.cause == .unsupported)
        #expect(bench.origin.requests.last?.validators.isEmpty == true)
    }

    @Test(arguments: [400, 401, 403, 451])
    func `A 4xx response does not permit a stale image`(status: Int) async throws {
        let bench = try Bench(.control("max-age=60, stale-if-error=600", etag: "a"))
        try await bench.ask()
        bench.origin.answer(.status(status))
        bench.wall.advance(seconds: 61)
        #expect(try await bench.failure() != nil)
    }

    @Test(arguments: ["no-cache", "max-age=0"])
    func `A client without permission gets remembered failures, whatever it sends`(directive: String) async throws {
        let bench = try Bench()
        bench.origin.answer(.status(404))
        _ = try await bench.failure()
        await #expect(throws: PipelineError.remembered(.notFound(status: 404), retryAfterSeconds: 60)) {
            try await bench.ask(directives: [.cacheControl: directive], allowsForcedRefresh: false)
        }
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `A client with permission bypasses remembered failures`() async throws {
        let bench = try Bench()
        bench.origin.answer(.status(404))
        _ = try await bench.failure()
        bench.origin.answer(.picture(try Pictures.red.get()))
        #expect(try await bench.failure() != nil)
        try await bench.ask(mode: .reload)
        try await bench.ask()
    }

    @Test func `A fallback replaces a source that fails, under its own rules`() async throws {
        let bench = try Bench()
        bench.origin.answer("/a.png", .status(404))
        bench.origin.answer("/b.png", .picture(try Pictures.green.get()))
        var request = try bench.request()
        request.fallback = try SourceURL(parsing: "http://example.com/b.png")
        let answer = try await bench.pipeline.image(for: request)
        #expect(answer.fallbackReason == .notFound(status: 404))
        #expect(try await bench.pipeline.image(for: request).cache.variant == .memory)
        bench.origin.answer("/c.png", .failure(.notAllowed(.address)))
        bench.origin.answer("/d.png", .status(500))
        request.source = try SourceURL(parsing: "http://example.com/d.png")
        request.fallback = try SourceURL(parsing: "http://example.com/c.png")
        let refused = request
        await #expect(throws: PipelineError.notAllowed("The source's address is not allowed.")) {
            _ = try await bench.pipeline.image(for: refused)
        }
    }

    @Test(arguments: [(404, true), (410, true), (500, false), (403, false)])
    func `A fallback for some statuses does not replace a source that fails with another`(
        status: Int, isReplaced: Bool
    ) async throws {
        let bench = try Bench()
        bench.origin.answer("/a.png", .status(status))
        bench.origin.answer("/b.png", .picture(try Pictures.green.get()))
        var request = try bench.request()
        request.fallback = try SourceURL(parsing: "http://example.com/b.png")
        request.fallbackStatuses = [404, 410]
        let image = try? await bench.pipeline.image(for: request)
        #expect((image?.fallbackReason != nil) == isReplaced)
    }

    @Test(arguments: [OriginError.notAllowed(.address), .loop])
    func `A fallback does not hide our own refusals`(error: OriginError) async throws {
        let bench = try Bench()
        bench.origin.answer("/a.png", .failure(error))
        var request = try bench.request()
        request.fallback = try SourceURL(parsing: "http://example.com/b.png")
        let refused = request
        await #expect(throws: PipelineError(error)) { _ = try await bench.pipeline.image(for: refused) }
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `A stale image takes precedence over a fallback`() async throws {
        let bench = try Bench(.control("max-age=60"))
        let first = try await bench.ask()
        bench.origin.answer(.status(500))
        bench.wall.advance(seconds: 61)
        var request = try bench.request()
        request.fallback = try SourceURL(parsing: "http://example.com/b.png")
        let answer = try await bench.pipeline.image(for: request)
        #expect(answer.digest == first.digest)
        #expect(answer.fallbackReason == nil)
    }
}
