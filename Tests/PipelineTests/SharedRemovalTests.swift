import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomRequests
import DarkroomStore
import DarkroomWaiting
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Purged objects are deleted behind the answer, while the same server may write to the same names again.
@Suite(.timeLimit(.minutes(5)))
struct SharedRemovalTests {
    private let cluster: Cluster
    private let gate = Gate()

    init() throws {
        cluster = try Cluster.tagged("max-age=3600")
    }

    /// Asks for images while the store holds back a deletion, and then lets it end.
    private func ask(_ node: Cluster.Node, _ urls: [String], held: Int = 1) async throws {
        await gate.holds(held)
        for url in urls { _ = try await node.pipeline.image(for: ImageRequest(url: url)) }
        // Time for writes that do not wait for the deletion.
        for _ in 0..<1_000 { await Task.yield() }
        gate.open()
        await node.store.flush()
    }

    @Test(arguments: [PurgeTarget.tag("shoes"), .everything])
    func `What is fetched anew while its purged objects are deleted stays`(target: PurgeTarget) async throws {
        let url = "http://example.com/a.png"
        let node = await cluster.node()
        try await node.ask(url)
        cluster.bucket.hold(.delete, at: gate) { $0.contains("/o-") }
        await node.pipeline.purge(target)
        try await ask(node, [url])
        #expect(cluster.bucket.names.contains { $0.contains("/o-") })
        #expect(try await cluster.node().tier(url) == .shared)
    }

    @Test func `What is fetched anew before its turn to be deleted stays`() async throws {
        let urls = (0..<40).map { "http://example.com/\($0).png" }
        let first = await cluster.node()
        for url in urls { try await first.ask(url) }
        // Knows none of the sources, so that it deletes what a listing of all sources shows, some at a time.
        let second = await cluster.node()
        let ordered = urls.sorted { RequestKeys.source($0).hex < RequestKeys.source($1).hex }
        let held = "/\(RequestKeys.source(ordered[0]).hex)/o-"
        cluster.bucket.hold(.delete, at: gate) { $0.contains(held) }
        cluster.wall.advance(seconds: 1)
        await second.pipeline.purge(.everything)
        try await ask(second, [ordered[39]])
        await cluster.bucket.waitForNames { !$0.contains { $0.contains(held) } }
        let third = await cluster.node()
        #expect(try await third.tier(ordered[39]) == .shared)
        #expect(try await third.ask(ordered[1]).cache.forwarded == .miss)
    }

    /// Stores images, and holds back the first removals of a purge of all of them.
    private func purge(
        _ urls: [String], _ target: PurgeTarget = .host("example.com"), by node: Cluster.Node
    ) async throws {
        for url in urls { _ = try await node.pipeline.image(for: ImageRequest(url: url)) }
        await node.store.flush()
        for _ in urls { cluster.bucket.hold(.write, at: gate) { $0.hasSuffix("-0") } }
        await node.pipeline.purge(target)
        await gate.holds(2)
    }

    @Test func `New images are shared while a large purge deletes objects`() async throws {
        let node = await cluster.node()
        try await purge((0..<20).map { "http://example.com/\($0).png" }, by: node)
        let url = "http://example.org/new.png"
        _ = try await node.pipeline.image(for: ImageRequest(url: url))
        let record = "/\(RequestKeys.source(url).hex)/r-"
        await cluster.bucket.waitForNames { $0.contains { $0.contains(record) } }
        #expect(node.store.statistics.queuedWrites <= 1)
        gate.open()
        await node.store.flush()
    }

    @Test(arguments: [PurgeTarget.host("example.com"), .everything])
    func `What is fetched anew before its queued removal begins stays`(target: PurgeTarget) async throws {
        let urls = (0..<6).map { "http://example.com/\($0).png" }
        let (node, listing) = (await cluster.node(), Gate())
        // The deletion of all that was listed goes on after the removal.
        cluster.bucket.hold(.list, at: listing) { $0 == "1/s/" }
        try await purge(urls, target, by: node)
        await listing.holds(1)
        try await ask(node, urls, held: 2)
        listing.open()
        await node.pipeline.resolver.cache.follower?.sweeps.drain()
        let fresh = await cluster.node()
        for url in urls {
            #expect(try await fresh.pipeline.image(for: ImageRequest(url: url)).cache.variant == .shared)
        }
    }

    @Test func `What may not be stored any more soon after a purge leaves the store`() async throws {
        let node = await cluster.node()
        await node.pipeline.purge(.host("example.com"))
        try await node.ask()
        cluster.wall.advance(seconds: 5)
        cluster.origin.answer(.picture(try Pictures.green.get(), .control("no-store")))
        try await node.ask(mode: .reload)
        #expect(try await cluster.node().ask().cache.forwarded == .miss)
    }

    @Test func `All variants of an image that may not be stored any more leave the store, however many`() async throws {
        let node = await cluster.node()
        try await node.ask()
        let source = "1/s/\(RequestKeys.source("http://example.com/a.png").hex)/"
        for number in 0..<1_500 {
            cluster.bucket["\(source)v-\(StoreKey(hashing: "\(number)".utf8).hex)"] = ByteBuffer()
        }
        cluster.wall.advance(seconds: 5)
        cluster.origin.answer(.picture(try Pictures.green.get(), .control("no-store")))
        try await node.ask(mode: .reload)
        let left = cluster.bucket.names.filter { $0.hasPrefix(source) }
        #expect(left.count == 1 && left.allSatisfy { $0.hasSuffix("-0") })
    }

    @Test func `A server does not return to what its origin has withdrawn, although another makes variants of it`()
        async throws
    {
        let (first, second) = (await cluster.node(), await cluster.node())
        // The one that downloads has the original.
        try await second.ask()
        try await first.ask()
        cluster.wall.advance(seconds: 5)
        cluster.origin.answer(.picture(try Pictures.green.get(), .control("no-store")))
        try await first.ask(mode: .reload)
        #expect(try await second.tier(width: 30) == .memory)
        #expect(cluster.bucket.names.contains { $0.contains("/v-") })
        #expect(try await first.ask(width: 30).cache.forwarded == .miss)
    }
}
