import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomStore
import DarkroomWaiting
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// A purge log with so many purges that it is summed up.
@Suite(.timeLimit(.minutes(2)))
struct LongPurgeLogTests {
    private let cluster: Cluster
    private let disk = MemoryDisk()

    init() throws {
        cluster = try Cluster.tagged("max-age=86400")
    }

    /// Appends purges of tags that no source has.
    private func fill(_ count: Int, by node: Cluster.Node) async throws {
        let log = PurgeLog(node.store)
        for number in 0..<count {
            let name = PurgeLog.Name(time: node.store.milliseconds, isLasting: true)
            let message = PurgeMessage(.tag("tag-\(number)"), isSoft: false)
            try await log.append(message.bytes, as: name, within: .seconds(1))
        }
    }

    private func upkeep(_ node: Cluster.Node) async {
        await node.pipeline.resolver.cache.follower?.sweeps.drain()
    }

    private func logUpkeep(_ node: Cluster.Node, maxNames: Int = 100_000) throws -> PurgeLogUpkeep {
        PurgeLogUpkeep(
            shared: try #require(node.pipeline.resolver.cache.shared), log: PurgeLog(node.store, maxNames: maxNames),
            source: { RequestKeys.source($0.canonical) }, limit: .seconds(1))
    }

    private func sumUp(_ node: Cluster.Node) async throws {
        try await logUpkeep(node).sumUp(position: node.store.milliseconds)
    }

    private func names(_ folder: String) -> [String] { cluster.bucket.names.filter { $0.hasPrefix("1/\(folder)/") } }

    /// Reads until the log is summed up for the next server.
    private func sumUp() async throws {
        try await fill(201, by: cluster.node())
        cluster.wall.advance(seconds: 1_800)
        await upkeep(await cluster.node())
        #expect(names("f").count == 1)
    }

    @Test func `A server that starts reads a summary and the purges after it`() async throws {
        try await sumUp()
        let node = await cluster.node()
        cluster.wall.advance(seconds: 1)
        await node.pipeline.purge(.tag("hats"))
        await upkeep(node)
        let before = cluster.bucket.count(of: .read)
        let fresh = await cluster.node()
        #expect(cluster.bucket.count(of: .read) - before == 2)
        #expect(names("p").count == 202)
        // Servers of earlier releases find all purges in the log.
        await fresh.pipeline.carryOutPurges()
        #expect(names("f").count == 1)
    }

    @Test func `A purge that was summed up still concerns what another server stores late`() async throws {
        let gate = Gate()
        let cluster = try Cluster(.control("max-age=86400", etag: "a"), gate: gate)
        let slow = await cluster.node()
        let late = Task { try await slow.ask() }
        await cluster.origin.fetches.reaches(1)
        let purging = await cluster.node()
        await purging.pipeline.purge(.host("example.com"))
        await upkeep(purging)
        cluster.wall.advance(seconds: 1_800)
        await purging.pipeline.carryOutPurges()
        try await sumUp(purging)
        gate.open()
        _ = try await late.value
        let fresh = await cluster.node()
        #expect(try await fresh.ask().cache.forwarded == .miss)
    }

    @Test func `New purges are summed up, however long the log is`() async throws {
        try await sumUp()
        let node = await cluster.node()
        cluster.wall.advance(seconds: 1)
        try await fill(201, by: node)
        try await logUpkeep(node, maxNames: 201).run(position: node.store.milliseconds)
        #expect(names("f").count == 2)
    }

    @Test func `A long log is listed in parts`() async throws {
        let node = await cluster.node()
        for number in 0..<5_001 {
            let digits = String(100_000 + number)
            cluster.bucket["1/p/0000000000\(digits)-0000000000000000-s"] = ByteBuffer()
        }
        let before = cluster.bucket.count(of: .list)
        let listed = try await PurgeLog(node.store).names(since: nil, within: .seconds(1))
        #expect(listed.names.count == 5_001 && listed.isComplete)
        #expect(cluster.bucket.count(of: .list) - before == 2)
        let first = try await PurgeLog(node.store, maxNames: 5_001).names(since: nil, within: .seconds(1))
        #expect(first.names == listed.names && !first.isComplete)
        let some = try await PurgeLog(node.store).names(since: nil, within: .seconds(1)) { _ in false }
        #expect(some.names == Array(listed.names.prefix(5_000)) && !some.isComplete)
    }

    @Test func `With too many purges, a server that starts lists few of them, and origins confirm`() async throws {
        try await cluster.node(disk: disk).ask()
        cluster.wall.advance(seconds: 1_800)
        let time = await cluster.node().store.milliseconds
        for number in 0..<25_000 {
            cluster.bucket[String(format: "1/p/%016lx-%016lx-l", Int(time), number)] = ByteBuffer()
        }
        cluster.wall.advance(seconds: 1_800)
        let before = cluster.bucket.count(of: .list)
        let back = await cluster.node(disk: disk)
        await back.pipeline.resolver.cache.follower?.sweeps.drain()
        // Two of summaries, before and after it writes one, three of 5,000 purges each, and one of the latest purges.
        #expect(cluster.bucket.count(of: .list) - before == 6)
        #expect(try await back.ask().cache.originStatus == 304)
    }

    @Test(arguments: [true, false])
    func `If the latest summary cannot be read, an earlier one is, or the whole log`(hasEarlier: Bool) async throws {
        try await sumUp()
        if hasEarlier {
            cluster.wall.advance(seconds: 60)
            let node = await cluster.node()
            try await sumUp(node)
        }
        cluster.bucket[try #require(names("f").last)] = ByteBuffer(string: "x")
        let before = cluster.bucket.count(of: .read)
        _ = await cluster.node()
        #expect(cluster.bucket.count(of: .read) - before == (hasEarlier ? 2 : 202))
    }

    @Test func `Two servers may sum up at once, and old summaries are deleted`() async throws {
        try await sumUp()
        for _ in 0..<3 {
            cluster.wall.advance(seconds: 60)
            let nodes = [await cluster.node(), await cluster.node()]
            for node in nodes {
                try await sumUp(node)
            }
        }
        #expect(names("f").count == 3)
        let before = cluster.bucket.count(of: .read)
        _ = await cluster.node()
        #expect(cluster.bucket.count(of: .read) - before == 1)
    }

    @Test func `All servers forget purges that no object is older than, whichever of them sums up`() async throws {
        let nodes = [await cluster.node(), await cluster.node()]
        cluster.wall.advance(seconds: 1)
        await nodes[0].pipeline.purge(.tag("hats"))
        #expect(await nodes[1].pipeline.carryOutPurges())
        cluster.wall.advance(seconds: 31 * 86_400)
        for node in nodes {
            let orders = try #require(node.pipeline.resolver.cache.shared?.purgedOrders)
            #expect(orders.summary.count == 1)
            try await logUpkeep(node).run(position: node.store.milliseconds)
            #expect(orders.summary.count == 0)
        }
        #expect(names("f").count == 1)
    }

    @Test func `With more purges than can be read, everything stays, and origins confirm it once`() async throws {
        let node = await cluster.node(disk: disk)
        try await node.ask()
        let stored = names("s")
        cluster.wall.advance(seconds: 1_800)
        try await fill(PurgeFollower.maxPurges + 1, by: node)
        let entries = disk.count
        let back = await cluster.node(disk: disk)
        #expect(disk.count == entries)
        #expect(names("s") == stored)
        cluster.wall.advance(seconds: 3_600)
        await back.pipeline.carryOutPurges()
        await upkeep(back)
        #expect(try await cluster.node(disk: disk).ask().cache.originStatus == 304)
        #expect(try await cluster.node(disk: disk).tier() == .disk)
        #expect(try await cluster.node().tier() == .shared)
        #expect(cluster.origin.fetches.value == 2)
    }

    @Test func `What too many purges may concern is not used while it is revalidated`() async throws {
        let cluster = try Cluster(.control("max-age=86400, stale-while-revalidate=86400", etag: "a"))
        try await cluster.node().ask()
        let node = await cluster.node()
        cluster.wall.advance(seconds: 1)
        let order = node.store.milliseconds + PurgeFollower.orderLead
        node.pipeline.resolver.cache.shared?.purgedOrders.doubt(upTo: order)
        #expect(try await node.ask().cache.originStatus == 304)
        #expect(try await cluster.node().tier() == .shared)
    }

    @Test func `Entries from a time without a shared store are confirmed by their origins`() async throws {
        let node = await cluster.node(disk: disk)
        try await node.ask()
        await disk.remove(PurgeProgress.key)
        cluster.wall.advance(seconds: 60)
        let back = await cluster.node(disk: disk)
        cluster.wall.advance(seconds: 1)
        #expect(try await back.ask().cache.originStatus == 304)
        #expect(try await back.tier() == .memory)
        #expect(try await cluster.node(disk: disk).tier() == .disk)
    }
}
