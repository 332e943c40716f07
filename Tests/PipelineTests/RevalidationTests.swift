import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomRequests
import DarkroomWaiting
import Foundation
import HTTPTypes
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Revalidation of stale originals and variants.
@Suite(.timeLimit(.minutes(5)))
struct RevalidationTests {
    @Test func `A 304 freshens the original and every variant, and nothing is decoded`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        let first = try await bench.ask(width: 20)
        try await bench.ask(width: 10)
        bench.wall.advance(seconds: 61)
        let checked = try await bench.ask(width: 20)
        #expect(checked.cache == CacheReport(variant: .memory, forwarded: .stale, originStatus: 304))
        #expect(checked.digest == first.digest)
        #expect(checked.age == .zero)
        #expect(try await bench.ask(width: 10).cache == CacheReport(variant: .memory))
        #expect(bench.origin.requests.last?.validators[.ifNoneMatch] == "\"a\"")
        #expect(bench.origin.fetches.value == 2)
        #expect(bench.processing.runs.value == 2)
    }

    @Test func `A 304 is stored on disk too`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        bench.wall.advance(seconds: 61)
        try await bench.ask()
        bench.pipeline.shrinkMemory(toFraction: 0)
        bench.wall.advance(seconds: 30)
        #expect(try await bench.ask().cache == CacheReport(variant: .disk))
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `The same bytes again keep every variant without a decode`() async throws {
        let bench = try Bench(.control("max-age=60"))
        try await bench.ask(width: 20)
        try await bench.ask(width: 10)
        bench.wall.advance(seconds: 61)
        #expect(
            try await bench.ask(width: 20).cache
                == CacheReport(variant: .memory, forwarded: .stale, originStatus: 200))
        #expect(try await bench.ask(width: 10).cache == CacheReport(variant: .memory))
        #expect(bench.processing.runs.value == 2)
    }

    @Test func `New bytes make every old variant unreachable at once`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        let old = [try await bench.ask(width: 20).digest, try await bench.ask(width: 10).digest]
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        bench.wall.advance(seconds: 61)
        let new = try await bench.ask(width: 20)
        #expect(new.cache.forwarded == .stale && new.cache.variant == nil && new.cache.originStatus == 200)
        let other = try await bench.ask(width: 10)
        #expect(other.cache == CacheReport(original: .memory, isStored: true))
        #expect(Set(old).isDisjoint(with: [new.digest, other.digest]))
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `Confirmed content whose bytes are gone is downloaded`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask(width: 20, store: .variants)
        await bench.settle()
        bench.wall.advance(seconds: 61)
        let other = try await bench.ask(width: 10, store: .variants)
        #expect(other.cache == CacheReport(forwarded: .stale, originStatus: 304, isStored: true))
        #expect(bench.origin.requests.map(\.validators.isEmpty) == [true, false, true])
        #expect(try await bench.ask(width: 20).cache == CacheReport(variant: .memory))
    }

    @Test(arguments: [
        ("max-age=60", false, true), ("max-age=60", true, false), ("no-store", false, true), ("no-store", true, true),
    ])
    func `A 304 about other content is ignored, and the content is fetched`(
        control: String, isNew: Bool, keepsDecode: Bool
    ) async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        let old = try await bench.ask()
        let picture = try isNew ? Pictures.green.get() : Pictures.red.get()
        bench.origin.answer(
            .notModified(
                .control("max-age=60", etag: "b"), otherwise: .picture(picture, .control(control, etag: "b"))))
        bench.wall.advance(seconds: 61)
        let answer = try await bench.ask()
        #expect(answer.cache.originStatus == 200)
        #expect((answer.digest != old.digest) == isNew)
        #expect(bench.origin.requests.last?.headers[.cacheControl] == "no-cache")
        #expect((bench.disk.count == 0) == (control == "no-store"))
        if control != "no-store" { #expect(bench.processing.runs.value == (isNew ? 2 : 1)) }
    }

    @Test func `An origin that answers 304 to an unconditional request is not retried forever`() async throws {
        let bench = try Bench()
        bench.origin.answer(.notModified([:]))
        guard case .originFailed = try await bench.failure() else {
            Issue.record("an origin's failure was expected")
            return
        }
        #expect(bench.origin.fetches.value <= 2)
    }

    @Test(arguments: ["a", nil])
    func `A confirmation clears the origin's remembered failure`(etag: String?) async throws {
        let bench = try Bench(.control("max-age=60", etag: etag))
        try await bench.ask()
        bench.wall.advance(seconds: 61)
        bench.origin.answer(.status(503, [.retryAfter: "3600"]))
        #expect(try await bench.ask().cache.staleBecause != nil)
        bench.origin.answer(.picture(try Pictures.red.get(), .control("max-age=60", etag: etag)))
        try await bench.ask(mode: .noCache)
        bench.wall.advance(seconds: 61)
        let checked = try await bench.ask()
        #expect(checked.cache.forwarded == .stale && checked.cache.staleBecause == nil)
    }

    @Test func `Concurrent requests for a stale image revalidate it once`() async throws {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60", etag: "a"), gate: gate)
        gate.open()
        try await bench.ask()
        gate.close()
        bench.wall.advance(seconds: 61)
        try await withThrowingTaskGroup(of: ImageResponse.self) { group in
            for _ in 0..<50 { group.addTask { try await bench.ask() } }
            await bench.origin.fetches.reaches(2)
            gate.open()
            for try await answer in group { #expect(answer.cache.variant == .memory) }
        }
        // Requests that came after the answer found it fresh.
        #expect(bench.origin.fetches.value == 2)
        #expect(bench.processing.runs.value == 1)
    }

    @Test func `Within stale-while-revalidate the stale image is served and revalidated once in the background`()
        async throws
    {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60, stale-while-revalidate=30", etag: "a"), gate: gate)
        gate.open()
        let first = try await bench.ask()
        gate.close()
        bench.wall.advance(seconds: 80)
        for _ in 0..<5 {
            let stale = try await bench.ask()
            #expect(stale.cache == CacheReport(variant: .memory))
            #expect(stale.remaining == .seconds(-20))
            #expect(stale.digest == first.digest)
        }
        await bench.origin.fetches.reaches(2)
        #expect(bench.origin.requests.last?.urgency() == .background)
        gate.open()
        await bench.pipeline.resolver.background.drain()
        #expect(try await bench.ask().remaining == .seconds(60))
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `A request that may not be stored is not revalidated in the background`() async throws {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60, stale-while-revalidate=30", etag: "a"), gate: gate)
        gate.open()
        try await bench.ask()
        gate.close()
        bench.wall.advance(seconds: 70)
        #expect(try await bench.ask(directives: [.cacheControl: "no-store"]).cache.variant == .memory)
        try await bench.ask()
        await bench.origin.fetches.reaches(2)
        gate.open()
        await bench.pipeline.resolver.background.drain()
        #expect(try await bench.ask().remaining == .seconds(60))
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `New content that a background revalidation brings is made into the image`() async throws {
        let bench = try Bench(.control("max-age=60, stale-while-revalidate=30", etag: "a"))
        let old = try await bench.ask()
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        bench.wall.advance(seconds: 70)
        #expect(try await bench.ask().digest == old.digest)
        await bench.pipeline.resolver.background.drain()
        #expect(try await bench.ask().digest != old.digest)
        #expect(bench.processing.runs.value == 2)
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `Past the window the origin is contacted first`() async throws {
        let bench = try Bench(.control("max-age=60, stale-while-revalidate=30", etag: "a"))
        try await bench.ask()
        bench.wall.advance(seconds: 91)
        #expect(try await bench.ask().cache.forwarded == .stale)
    }

    @Test func `The operator's window applies if the origin names none`() async throws {
        let bench = try Bench(
            .control("max-age=60", etag: "a"), freshness: FreshnessPolicy(staleWhileRevalidate: .seconds(10)))
        try await bench.ask()
        bench.wall.advance(seconds: 65)
        #expect(try await bench.ask().cache.forwarded == nil)
        await bench.origin.fetches.reaches(2)
    }

    @Test(arguments: [
        FakeOrigin.Answer.status(500), .status(503), .failure(.unreachable(.connect)), .failure(.timedOut(.response)),
    ])
    func `A stale image is served while the origin fails`(trouble: FakeOrigin.Answer) async throws {
        let bench = try Bench(.control("max-age=60, stale-if-error=100", etag: "a"))
        let first = try await bench.ask()
        bench.origin.answer(trouble)
        bench.wall.advance(seconds: 100)
        let stale = try await bench.ask()
        #expect(stale.digest == first.digest)
        #expect(stale.cache.staleBecause != nil)
        // Another size can be made too.
        #expect(try await bench.ask(width: 10).cache.original == .memory)
        bench.wall.advance(seconds: 61)
        #expect(try await bench.failure() != nil)
    }

    @Test(arguments: ["max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60", "no-cache"])
    func `An image that may not be served stale is never served while the origin fails`(control: String) async throws {
        let bench = try Bench(.control(control, etag: "a"))
        try await bench.ask()
        bench.origin.answer(.status(500))
        bench.wall.advance(seconds: 61)
        #expect(
            try await bench.failure()?.cause
                == .originFailed(
                    OriginFailure("The origin answered with status 500.", receivedStatus: 500)))
    }

    @Test func `A missing source is not answered from the caches, even if its origin fails later`()
        async throws
    {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        bench.origin.answer(.status(404))
        bench.wall.advance(seconds: 61)
        #expect(try await bench.failure() == .notFound(status: 404))
        #expect(bench.disk.count == 0)
        bench.origin.answer(.status(500))
        bench.wall.advance(seconds: 61)
        #expect(try await bench.failure() != nil)
    }

    @Test func `A response that may not be stored serves only the requests that wait for it`() async throws {
        let bench = try Bench(.control("no-store"))
        #expect(try await bench.ask().cache.isStored == false)
        #expect(try await bench.ask().cache.forwarded == .miss)
        #expect(bench.origin.fetches.value == 2)
        #expect(bench.disk.count == 0)
    }

    @Test(arguments: ["no-store", "private"])
    func `A 304 that forbids storing removes the source`(control: String) async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        bench.origin.answer(.picture(try Pictures.red.get(), .control(control, etag: "a")))
        bench.wall.advance(seconds: 61)
        try await bench.ask()
        #expect(bench.disk.count == 0)
        #expect(try await bench.failure(mode: .onlyIfCached) == .notCached)
        bench.origin.answer(.status(500))
        #expect(try await bench.failure() != nil)
    }

    @Test func `A response that may not be stored replaces one that was`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        bench.origin.answer(.picture(try Pictures.green.get(), .control("no-store")))
        try await bench.ask(mode: .reload)
        #expect(bench.disk.count == 0)
        #expect(try await bench.ask().cache.forwarded == .miss)
    }
}
