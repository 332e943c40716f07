import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomRequests
import DarkroomStore
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Requests to the store for one lookup: stores charge for each, and for a list twelve times as much as for a read.
@Suite(.timeLimit(.minutes(5)))
struct SharedLookupTests {
    private typealias Costs = [MemoryBucket.Operation: Int]

    private func costs(in cluster: Cluster, of body: () async throws -> Void) async rethrows -> Costs {
        cluster.bucket.operations.change { $0 = [:] }
        try await body()
        return cluster.bucket.operations.value
    }

    @Test func `A node that does not know an image finds it by one read`() async throws {
        let cluster = try Cluster()
        try await cluster.node().ask()
        try await cluster.node().ask(width: 30)
        let node = await cluster.node()
        #expect(try await costs(in: cluster) { try await node.ask() } == [.read: 1])
        #expect(try await costs(in: cluster) { try await node.ask() } == [:])
        #expect(try await costs(in: cluster) { try await node.ask(width: 30) } == [.read: 1])
    }

    @Test func `A new image costs a list and three writes, another width of it a write`() async throws {
        let cluster = try Cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        #expect(try await costs(in: cluster) { try await first.ask() } == [.read: 1, .list: 1, .write: 3])
        #expect(try await costs(in: cluster) { try await first.ask(width: 30) } == [.read: 1, .write: 1])
        try await second.ask()
        // The original, too.
        #expect(try await costs(in: cluster) { try await second.ask(width: 40) } == [.read: 2, .write: 1])
        // A missing variant, the record, and the original.
        let third = await cluster.node()
        #expect(try await costs(in: cluster) { try await third.ask(width: 50) } == [.read: 3, .list: 1, .write: 1])
    }

    @Test func `Only a stale record is compared with newer ones`() async throws {
        let cluster = try Cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await first.ask()
        try await second.ask()
        cluster.wall.advance(seconds: 90)
        #expect(
            try await costs(in: cluster) { try await first.ask() } == [.read: 1, .list: 1, .write: 1, .delete: 1])
        #expect(try await costs(in: cluster) { try await second.ask() } == [.read: 2, .list: 1])
        let third = await cluster.node()
        #expect(try await costs(in: cluster) { try await third.ask() } == [.read: 2, .list: 1])
        #expect(cluster.origin.fetches.value == 2)
    }

    @Test(
        arguments: [
            (.default, false), (.forceCache, false), (.onlyIfCached, false), (.noCache, true), (.refresh, true),
            (.reload, false),
        ] as [(CacheMode, Bool)])
    func `A request that wants the newest state of a source looks for the newest record`(
        mode: CacheMode, looks: Bool
    ) async throws {
        let cluster = try Cluster()
        try await cluster.node().ask()
        let node = await cluster.node()
        let costs = try await costs(in: cluster) { try await node.ask(mode: mode) }
        #expect((costs[.list] != nil) == looks)
    }

    @Test(arguments: ["max-age=0", "no-cache", "max-age=60, stale-while-revalidate=60", "max-age=60"])
    func `A record that has to be validated, is stale or varies is compared with newer ones`(
        control: String
    ) async throws {
        var fields = HTTPFields.control(control, etag: "a")
        if control == "max-age=60" { fields[.vary] = "Accept-Language" }
        let cluster = try Cluster(fields)
        try await cluster.node().ask()
        if control.hasSuffix("=60"), fields[.vary] == nil { cluster.wall.advance(seconds: 90) }
        let node = await cluster.node()
        let costs = try await costs(in: cluster) { try await node.ask() }
        #expect(costs[.list, default: 0] >= 1)
    }

    @Test func `While reads take a quarter of the timeout, lookups do not wait for the variant to list records`()
        async throws
    {
        let cluster = try Cluster()
        let lookups = [(300, false), (0, false), (300, false), (300, false), (300, true), (0, true), (0, false)]
        for number in lookups.indices { try await cluster.node().ask("http://example.com/\(number).png") }
        let time = Mutex(ContinuousClock.now)
        let node = await cluster.node { time.withLock(\.self) }
        for (number, (milliseconds, isListed)) in lookups.enumerated() {
            cluster.bucket.delay(.milliseconds(milliseconds)) { passed in time.withLock { $0 += passed } }
            let costs = try await costs(in: cluster) { try await node.ask("http://example.com/\(number).png") }
            #expect(costs == (isListed ? [.read: 1, .list: 1] : [.read: 1]), "\(number)")
        }
    }

    /// A node that has stored new content of an image, of which the store has an older variant.
    private func renewed() async throws -> (cluster: Cluster, node: Cluster.Node, old: ByteBuffer) {
        let cluster = try Cluster()
        let node = await cluster.node()
        try await node.ask()
        let old = try await node.ask(width: 30).body
        cluster.wall.advance(seconds: 10)
        cluster.origin.answer(.picture(try Pictures.png(color: [0, 0, 200]), .control("max-age=60", etag: "b")))
        try await node.ask(mode: .reload)
        return (cluster, node, old)
    }

    @Test func `A node does not return to older content than it has stored`() async throws {
        let (cluster, first, old) = try await renewed()
        let second = await cluster.node()
        await first.pipeline.purge(.everything, tiers: [.memory, .disk])
        #expect(try await first.ask(width: 30).body != old)
        // By now the variant in the store is of the new content, too.
        #expect(try await second.ask(width: 30).body != old)
    }

    @Test func `Another node sees new content once the record that it knows is stale`() async throws {
        let (cluster, _, old) = try await renewed()
        let second = await cluster.node()
        #expect(try await second.ask(width: 30).body == old)
        cluster.wall.advance(seconds: 55)
        #expect(try await second.ask(width: 30).body != old)
        #expect(cluster.origin.fetches.value == 2)
    }
}
