import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomObjectStorage
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// What one server stored in the shared tier, as others find it.
@Suite(.timeLimit(.minutes(5)))
struct SharedTierTests {
    @Test func `An image that one server made is a hit for all others`() async throws {
        let cluster = try Cluster()
        let made = try await cluster.node().ask()
        let node = await cluster.node()
        let found = try await node.ask()
        #expect(found.cache == CacheReport(variant: .shared))
        #expect(found.body == made.body)
        #expect(found.digest == made.digest)
        #expect(cluster.origin.fetches.value == 1)
        #expect(try await node.tier() == .memory)
        node.pipeline.shrinkMemory(toFraction: 0)
        #expect(try await node.tier() == .disk)
    }

    @Test func `Another width is made from the shared original`() async throws {
        let cluster = try Cluster()
        try await cluster.node().ask(width: 10)
        let found = try await cluster.node().ask(width: 30)
        #expect(found.cache.original == .shared)
        #expect(found.cache.forwarded == nil)
        #expect(found.size.width == 30)
        #expect(cluster.origin.fetches.value == 1)
    }

    @Test func `Without shared originals another width costs a download`() async throws {
        var cluster = try Cluster()
        cluster.shared.storesOriginals = false
        try await cluster.node().ask(width: 10)
        #expect(cluster.bucket.names.count == 2)
        let node = await cluster.node()
        #expect(try await node.tier(width: 10) == .shared)
        #expect(try await node.ask(width: 30).cache.forwarded != nil)
    }

    @Test func `Equal requests at the same time share one look`() async throws {
        let cluster = try Cluster()
        try await cluster.node().ask()
        let node = await cluster.node()
        cluster.bucket.operations.change { $0 = [:] }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 { group.addTask { try await node.ask() } }
            try await group.waitForAll()
        }
        #expect(cluster.bucket.count(of: .read) < 10)
        #expect(cluster.origin.fetches.value == 1)
    }

    @Test(arguments: [
        (HTTPFields.control("no-store"), TierSelection.all, 0), (.control("private, max-age=60"), .all, 0),
        (.control("max-age=60"), .memory, 0), (.control("max-age=60"), .none, 0),
        (.control("max-age=60"), .originals, 2), (.control("max-age=60"), .variants, 2),
        (.control("max-age=60"), .all, 3),
    ])
    func `What may not be stored is not shared either`(
        fields: HTTPFields, store: TierSelection, objects: Int
    ) async throws {
        let cluster = try Cluster(fields)
        try await cluster.node().ask(store: store)
        #expect(cluster.bucket.names.filter { !$0.hasPrefix("1/p/") && !$0.hasSuffix("-0") }.count == objects)
    }

    @Test func `An object that is older than the maximum age is a miss`() async throws {
        let cluster = try Cluster(.control("max-age=31536000"))
        try await cluster.node().ask()
        cluster.wall.advance(seconds: 30 * 86_400 - 1)
        #expect(try await cluster.node().tier() == .shared)
        cluster.wall.advance(seconds: 2)
        #expect(try await cluster.node().tier() == nil)
    }

    @Test func `A request that accepts cached answers only is answered from the shared tier`() async throws {
        let cluster = try Cluster()
        try await cluster.node().ask()
        #expect(try await cluster.node().ask(mode: .onlyIfCached).cache.variant == .shared)
    }

    @Test func `An explanation sees the shared tier and stores nothing`() async throws {
        let cluster = try Cluster()
        try await cluster.node().ask()
        let node = await cluster.node()
        let count = node.disk.count
        var recipe = Recipe()
        recipe.box = Box(width: 20, height: nil)
        let explanation = try await node.pipeline.explain(
            ImageRequest(url: "http://example.com/a.png", recipe: recipe))
        #expect(explanation.caches.map(\.tiers) == [.shared, .shared, .shared])
        #expect(explanation.decision?.step == .useVariant)
        #expect(node.disk.count == count)
    }
}

/// Freshness across servers.
@Suite(.timeLimit(.minutes(5)))
struct SharedFreshnessTests {
    @Test func `A revalidation by one server is honored by all`() async throws {
        let cluster = try Cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await first.ask()
        try await second.ask()
        cluster.wall.advance(seconds: 90)
        #expect(try await first.ask().cache.originStatus == 304)
        #expect(cluster.origin.fetches.value == 2)
        #expect(try await second.ask().cache.forwarded == nil)
        #expect(try await cluster.node().ask().cache.variant == .shared)
        #expect(cluster.origin.fetches.value == 2)
    }

    @Test func `New content replaces the old one for all servers once theirs is stale`() async throws {
        let cluster = try Cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await first.ask()
        try await second.ask()
        cluster.wall.advance(seconds: 90)
        cluster.origin.answer(.picture(try Pictures.png(color: [0, 0, 200]), .control("max-age=60", etag: "b")))
        let new = try await first.ask()
        #expect(try await second.ask().body == new.body)
        #expect(cluster.origin.fetches.value == 2)
    }

    @Test func `A late write of old content does not win over new content`() async throws {
        let cluster = try Cluster()
        let gate = Gate()
        let (slow, quick) = (await cluster.node(), await cluster.node())
        cluster.bucket.hold(.write, at: gate) { $0.contains("/r-") }
        let late = Task { try await slow.ask() }
        await cluster.bucket.operations.wait { $0[.write] == 3 }
        cluster.wall.advance(seconds: 1)
        cluster.origin.answer(.picture(try Pictures.png(color: [0, 0, 200]), .control("max-age=60", etag: "b")))
        let new = try await quick.ask(mode: .reload)
        gate.open()
        let old = try await late.value
        #expect(old.body != new.body)
        #expect(try await cluster.node().ask().body == new.body)
        #expect(cluster.origin.fetches.value == 2)
    }

    @Test func `A server whose clock is behind still writes the later record`() async throws {
        let cluster = try Cluster()
        let node = await cluster.node()
        try await node.ask()
        cluster.wall.advance(seconds: -30)
        cluster.origin.answer(.picture(try Pictures.png(color: [0, 0, 200]), .control("max-age=60", etag: "b")))
        let new = try await node.ask(mode: .reload)
        #expect(try await cluster.node().ask().body == new.body)
    }

    @Test func `Replaced records do not pile up`() async throws {
        let cluster = try Cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        for _ in 0..<5 {
            for node in [first, second] {
                cluster.wall.advance(seconds: 90)
                try await node.ask()
            }
        }
        try await cluster.node().ask()
        await second.store.flush()
        #expect(cluster.bucket.names.filter { $0.contains("/r-") }.count <= 2)
    }

    @Test func `A source that is gone is gone for all servers`() async throws {
        let cluster = try Cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await first.ask()
        cluster.wall.advance(seconds: 90)
        cluster.origin.answer(.status(404))
        await #expect(throws: PipelineError.self) { try await first.ask() }
        await first.store.flush()
        await #expect(throws: PipelineError.self) { try await second.ask(mode: .onlyIfCached) }
    }
}
