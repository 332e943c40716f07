import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// The Fetch standard's cache modes, which are `NSURLRequest`'s cache policies, and the request directives.
@Suite(.timeLimit(.minutes(5)))
struct CacheModeTests {
    /// Whether each mode contacts the origin for an image that was stored `age` seconds ago.
    @Test(arguments: [
        (CacheMode.default, 10.0, false), (.default, 70, true), (.forceCache, 10, false), (.forceCache, 700, false),
        (.onlyIfCached, 10, false), (.onlyIfCached, 700, false), (.noCache, 10, true), (.reload, 10, true),
        (.noStore, 10, true),
    ])
    func `Each mode contacts the origin when it should`(mode: CacheMode, age: Double, asks: Bool) async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        bench.wall.advance(seconds: age)
        let answer = try await bench.ask(mode: mode)
        #expect(answer.cache.forwarded.map { _ in true } ?? false == asks)
        #expect(bench.origin.fetches.value == (asks ? 2 : 1))
    }

    @Test func `no-cache revalidates, and reload and no-store fetch past all caches`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        #expect(try await bench.ask(mode: .noCache).cache.originStatus == 304)
        for mode in [CacheMode.reload, .noStore] {
            #expect(try await bench.ask(mode: mode).cache.originStatus == 200)
            let request = bench.origin.requests.last
            #expect(request?.validators.isEmpty == true)
            #expect(request?.headers[.cacheControl] == "no-cache")
        }
    }

    @Test(
        arguments: [(.noStore, [:]), (.default, [.cacheControl: "no-store"])] as [(CacheMode, HTTPFields)])
    func `no-store stores nothing`(mode: CacheMode, directives: HTTPFields) async throws {
        let bench = try Bench(.control("max-age=60"))
        #expect(try await bench.ask(mode: mode, directives: directives).cache.isStored == false)
        #expect(bench.disk.count == 0)
        #expect(bench.memory.statistics.entries == 0)
    }

    @Test(arguments: [true, false])
    func `The answer to no-store changes nothing in the caches`(isGone: Bool) async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        let old = try await bench.ask()
        bench.origin.answer(isGone ? .status(404) : .picture(try Pictures.green.get(), .control("no-store")))
        _ = try? await bench.ask(mode: .noStore)
        #expect(bench.origin.fetches.value == 2)
        let next = try await bench.ask()
        #expect(next.cache == CacheReport(variant: .memory) && next.digest == old.digest)
    }

    @Test(arguments: [CacheMode.reload, .noStore])
    func `Reload and no-store are never answered with a stale image`(mode: CacheMode) async throws {
        let bench = try Bench(.control("max-age=60, stale-if-error=600", etag: "a"))
        try await bench.ask()
        bench.origin.answer(.status(500))
        #expect(try await bench.failure(mode: mode) != nil)
        #expect(try await bench.failure() == nil)
    }

    @Test func `only-if-cached never contacts the origin`() async throws {
        let bench = try Bench()
        #expect(try await bench.failure(mode: .onlyIfCached) == .notCached)
        #expect(bench.origin.fetches.value == 0)
    }

    @Test func `only-if-cached does not fetch bytes that the caches have lost`() async throws {
        let bench = try Bench(.control("max-age=60"))
        try await bench.ask(width: 30, store: .variants)
        await bench.settle()
        #expect(try await bench.failure(mode: .onlyIfCached) == .notCached)
        #expect(bench.origin.fetches.value == 1)
        // Other requests fetch them unconditionally, since there are no bytes to confirm.
        #expect(try await bench.ask().cache.forwarded == .miss)
        #expect(bench.origin.requests.map(\.validators.isEmpty) == [true, true])
    }

    @Test func `Refresh answers from the cache and revalidates in the background`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        bench.wall.advance(seconds: 10)
        #expect(try await bench.ask(mode: .refresh).cache == CacheReport(variant: .memory))
        await bench.origin.fetches.reaches(2)
    }

    @Test(arguments: [
        ("no-cache", 10.0, true), ("max-age=0", 10, true), ("max-age=20", 10, false), ("max-age=5", 10, true),
        ("min-fresh=20", 10, false), ("min-fresh=55", 10, true), ("max-stale", 700, false),
        ("max-stale=20", 70, false), ("max-stale=5", 70, true),
    ])
    func `A client's directives are obeyed`(directive: String, age: Double, asks: Bool) async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        bench.wall.advance(seconds: age)
        let answer = try await bench.ask(directives: [.cacheControl: directive])
        #expect(answer.cache.forwarded.map { _ in true } ?? false == asks)
    }

    @Test(arguments: ["no-cache", "max-age=0"])
    func `A client without permission cannot force a request to the origin`(directive: String) async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        for _ in 0..<3 {
            let answer = try await bench.ask(directives: [.cacheControl: directive], allowsForcedRefresh: false)
            #expect(answer.cache == CacheReport(variant: .memory))
        }
        #expect(bench.origin.fetches.value == 1)
    }

    /// The tiers that have entries after a request: Glide's disk strategies and SDWebImage's store cache types.
    @Test(
        arguments: [
            (TierSelection.all, [.memory, .disk], [.memory, .disk]), (.memory, .memory, .memory),
            (.originals, [.memory, .disk], []), (.variants, [], [.memory, .disk]), (.none, [], []),
        ] as [(TierSelection, TierSet, TierSet)])
    func `Each tier selection stores what it says`(choice: TierSelection, original: TierSet, variant: TierSet)
        async throws
    {
        let bench = try Bench(.control("max-age=60"))
        try await bench.ask(store: choice)
        let location = await bench.pipeline.location(of: try bench.request())
        #expect(location == CacheLocation(original: original, variant: variant))
    }

    @Test func `A tier that is not queried does not answer`() async throws {
        let bench = try Bench(.control("max-age=60"))
        try await bench.ask()
        var request = try bench.request()
        request.cache.query.variants = .disk
        #expect(try await bench.pipeline.image(for: request).cache.variant == .disk)
        request.cache.query.variants = []
        #expect(try await bench.pipeline.image(for: request).cache.original == .memory)
    }

    @Test func `A request that reads no tier is answered by the origin`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        try await bench.ask()
        var request = try bench.request()
        request.cache.query = .none
        #expect(
            try await bench.pipeline.image(for: request).cache
                == CacheReport(forwarded: .miss, originStatus: 200, isStored: true))
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `A request that waits for the disk is answered once its image is there`() async throws {
        let bench = try Bench(.control("max-age=60"))
        var request = try bench.request()
        request.cache.waitsForDisk = true
        #expect(try await bench.pipeline.image(for: request).cache.isStored)
        // One wait for the original and one for the variant.
        #expect(bench.disk.waits.value == 2)
    }

    @Test func `An image in memory is on disk too once a request has waited for that`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"))
        bench.disk.fillQueue()
        try await bench.ask()
        #expect(bench.disk.count == 0)
        var waiting = try bench.request()
        waiting.cache.waitsForDisk = true
        let request = waiting
        #expect(try await bench.pipeline.image(for: request).cache == CacheReport(variant: .memory, isStored: true))
        bench.wall.advance(seconds: 61)
        // The record of a 304 is waited for too.
        #expect(try await bench.pipeline.image(for: request).cache.originStatus == 304)
        bench.pipeline.shrinkMemory(toFraction: 0)
        #expect(try await bench.ask().cache == CacheReport(variant: .disk))
    }

    @Test func `An entry that may not be stored in memory is not promoted`() async throws {
        let bench = try Bench(.control("max-age=60"))
        try await bench.ask()
        bench.pipeline.shrinkMemory(toFraction: 0)
        #expect(try await bench.ask(store: .none).cache.variant == .disk)
        #expect(try await bench.ask(width: 10, store: .none).cache.original == .disk)
        #expect(bench.memory.statistics.entries == 0)
    }

    @Test func `Abandoned work is canceled`() async throws {
        let bench = try Bench(.control("max-age=60"), gate: Gate())
        let client = Task { try? await bench.ask() }
        await bench.origin.fetches.reaches(1)
        client.cancel()
        await bench.origin.cancelled.reaches(1)
    }

    @Test func `The delegate may refuse caching, or change the freshness`() async throws {
        let vetoed = try Bench(.control("max-age=60"), delegate: Cacher(isVeto: true))
        #expect(try await vetoed.ask().cache.isStored == false)
        #expect(vetoed.disk.count == 0)
        let rewritten = try Bench(.control("max-age=60"), delegate: Cacher(isVeto: false))
        #expect(try await rewritten.ask().remaining == .seconds(7))
    }
}

private struct Cacher: ImagePipelineDelegate {
    let isVeto: Bool

    func willCacheResponse(_ response: OriginResponse, for request: ImageRequest) async -> OriginResponse? {
        guard !isVeto else { return nil }
        var response = response
        response.headers[.cacheControl] = "max-age=7"
        return response
    }
}
