import DarkroomHTTPCaching
import DarkroomOrigin
import Foundation
import HTTPTypes
import Testing

@testable import DarkroomPipeline

/// What becomes of originals and variants when they grow old.
@Suite(.timeLimit(.minutes(2)))
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

    @Test func `A 304 is remembered on disk too`() async throws {
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

    @Test func `A picture that is still right but whose bytes are nowhere is downloaded`() async throws {
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
    func `A 304 that speaks of something else is no answer, and everything is asked for`(
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

    @Test func `An origin that answers 304 to no condition is not asked for ever`() async throws {
        let bench = try Bench()
        bench.origin.answer(.notModified([:]))
        guard case .originFailed = try await bench.failure() else {
            Issue.record("an origin's failure was expected")
            return
        }
        #expect(bench.origin.fetches.value <= 2)
    }

    @Test(arguments: ["a", nil])
    func `An origin that confirms a picture is in trouble no more`(etag: String?) async throws {
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

    @Test func `Many who meet a stale picture ask its origin once`() async throws {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60", etag: "a"), gate: gate)
        gate.open()
        try await bench.ask()
        gate.close()
        bench.wall.advance(seconds: 61)
        try await withThrowingTaskGroup(of: ImageResponse.self) { group in
            for _ in 0..<50 { group.addTask { try await bench.ask() } }
            await until { bench.origin.fetches.value == 2 }
            gate.open()
            for try await answer in group { #expect(answer.cache.variant == .memory) }
        }
        // Whoever came after the answer found it fresh.
        #expect(bench.origin.fetches.value == 2)
        #expect(bench.processing.runs.value == 1)
    }

    @Test func `Within stale-while-revalidate the stale picture is answered now and checked once behind it`()
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
        await until { bench.origin.fetches.value == 2 }
        #expect(bench.origin.requests.last?.urgency() == .background)
        gate.open()
        await until { (try? await bench.ask().remaining) == .seconds(60) }
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `A client whose answer may not be kept has nothing checked behind it`() async throws {
        let gate = Gate()
        let bench = try Bench(.control("max-age=60, stale-while-revalidate=30", etag: "a"), gate: gate)
        gate.open()
        try await bench.ask()
        gate.close()
        bench.wall.advance(seconds: 70)
        #expect(try await bench.ask(directives: [.cacheControl: "no-store"]).cache.variant == .memory)
        try await bench.ask()
        await until { bench.origin.fetches.value == 2 }
        gate.open()
        await until { (try? await bench.ask().remaining) == .seconds(60) }
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `New bytes that a background check finds are made into the picture before anybody asks`() async throws {
        let bench = try Bench(.control("max-age=60, stale-while-revalidate=30", etag: "a"))
        let old = try await bench.ask()
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        bench.wall.advance(seconds: 70)
        #expect(try await bench.ask().digest == old.digest)
        await until { bench.processing.runs.value == 2 }
        await until { (try? await bench.ask().digest) != old.digest }
        #expect(bench.processing.runs.value == 2)
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `Past the window the origin is asked first`() async throws {
        let bench = try Bench(.control("max-age=60, stale-while-revalidate=30", etag: "a"))
        try await bench.ask()
        bench.wall.advance(seconds: 91)
        #expect(try await bench.ask().cache.forwarded == .stale)
    }

    @Test func `An operator's default window holds where the origin names none`() async throws {
        let bench = try Bench(
            .control("max-age=60", etag: "a"), freshness: FreshnessPolicy(staleWhileRevalidate: .seconds(10)))
        try await bench.ask()
        bench.wall.advance(seconds: 65)
        #expect(try await bench.ask().cache.forwarded == nil)
        await until { bench.origin.fetches.value == 2 }
    }

    @Test(arguments: [
        FakeOrigin.Answer.status(500), .status(503), .failure(.unreachable(.connect)), .failure(.timedOut(.response)),
    ])
    func `A stale picture stands in for an origin in trouble`(trouble: FakeOrigin.Answer) async throws {
        let bench = try Bench(.control("max-age=60, stale-if-error=100", etag: "a"))
        let first = try await bench.ask()
        bench.origin.answer(trouble)
        bench.wall.advance(seconds: 100)
        let stale = try await bench.ask()
        #expect(stale.digest == first.digest)
        #expect(stale.cache.staleBecause != nil)
        // Another size of it can be made too.
        #expect(try await bench.ask(width: 10).cache.original == .memory)
        bench.wall.advance(seconds: 61)
        #expect(try await bench.failure() != nil)
    }

    @Test(arguments: ["max-age=60, must-revalidate", "max-age=60, proxy-revalidate", "s-maxage=60", "no-cache"])
    func `A picture that may not be stale never stands in`(control: String) async throws {
        let bench = try Bench(.control(control, etag: "a"))
        try await bench.ask()
        bench.origin.answer(.status(500))
        bench.wall.advance(seconds: 61)
        #expect(
            try await bench.failure()?.cause
                == .originFailed(
                    OriginFailure("The origin answered with status 500.", receivedStatus: 500)))
    }

    @Test func `A picture that is gone is not answered from the caches, not even when its origin fails later`()
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

    @Test func `What may not be kept is made for those who wait and for nobody else`() async throws {
        let bench = try Bench(.control("no-store"))
        #expect(try await bench.ask().cache.isStored == false)
        #expect(try await bench.ask().cache.forwarded == .miss)
        #expect(bench.origin.fetches.value == 2)
        #expect(bench.disk.count == 0)
    }

    @Test(arguments: ["no-store", "private"])
    func `A 304 that forbids to keep the picture ends its keeping`(control: String) async throws {
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

    @Test func `An answer that may not be kept takes the place of one that was`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        bench.origin.answer(.picture(try Pictures.green.get(), .control("no-store")))
        try await bench.ask(mode: .reload)
        #expect(bench.disk.count == 0)
        #expect(try await bench.ask().cache.forwarded == .miss)
    }
}
