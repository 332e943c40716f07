import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomObjectStorage
import DarkroomRequests
import DarkroomStore
import DarkroomTestClock
import DarkroomWaiting
import HTTPTypes
import NIOCore
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Purges that reach all servers that share a tier.
@Suite(.timeLimit(.minutes(5)))
struct SharedPurgeTests {

    private static func cluster(gate: Gate? = nil) throws -> Cluster {
        var fields = HTTPFields.control("max-age=3600", etag: "a")
        fields[.surrogateKey] = "shoes summer"
        return try Cluster(fields, gate: gate)
    }

    @Test(arguments: Cluster.targets)
    func `A purge on one server is carried out by all others`(target: PurgeTarget) async throws {
        let cluster = try Self.cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await first.ask()
        try await second.ask()
        let report = await first.pipeline.purge(target)
        #expect(report.propagation == .within(.seconds(6)))
        await first.store.flush()
        #expect(await second.pipeline.carryOutPurges())
        #expect(second.disk.count <= 1)
        #expect(try await second.ask().cache.forwarded == .miss)
        #expect(cluster.origin.fetches.value == 2)
        // What was fetched after the purge is shared again.
        #expect(try await first.ask().cache.variant == .shared)
        #expect(try await cluster.node().tier() == .shared)
    }

    @Test(arguments: ["7fffffffffffffff", "00000e677d21fdbf", "ffffffffffffffff", "-000000000000001"])
    func `A purge that says it is from the far future is ignored`(time: String) async throws {
        let cluster = try Self.cluster()
        let node = await cluster.node()
        try await node.ask()
        await node.store.flush()
        cluster.bucket["1/p/\(time)-0000000000000001-l"] = ByteBuffer(string: "forged")
        #expect(await node.pipeline.carryOutPurges())
        #expect(try await node.tier() == .memory)
        #expect(try await cluster.node().tier() == .shared)
    }

    @Test(arguments: [
        PurgeTarget.prefix("http://example.org/"), .host("example.org"), .tag("winter"),
    ])
    func `A purge leaves other sources alone`(target: PurgeTarget) async throws {
        let cluster = try Self.cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await first.ask()
        try await second.ask()
        await first.pipeline.purge(target)
        await second.pipeline.carryOutPurges()
        #expect(try await second.tier() == .memory)
        #expect(try await cluster.node().tier() == .shared)
    }

    @Test(arguments: Cluster.targets)
    func `What is stored late by a server that does not know of the purge is not used`(
        target: PurgeTarget
    ) async throws {
        let gate = Gate()
        let cluster = try Self.cluster(gate: gate)
        let (purging, slow) = (await cluster.node(), await cluster.node())
        let late = Task { try await slow.ask() }
        await cluster.origin.fetches.reaches(1)
        cluster.wall.advance(seconds: 5)
        await purging.pipeline.purge(target)
        gate.open()
        _ = try await late.value
        #expect(cluster.bucket.names.contains { $0.contains("/v-") })
        #expect(try await purging.ask().cache.forwarded == .miss)
        let fresh = await cluster.node()
        #expect(try await fresh.tier() == .shared)
        #expect(cluster.origin.fetches.value == 2)
    }

    @Test(arguments: Cluster.targets)
    func `A soft purge makes all servers ask the origin again`(target: PurgeTarget) async throws {
        let cluster = try Self.cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await first.ask()
        try await second.ask()
        cluster.wall.advance(seconds: 1)
        await first.pipeline.purge(target, soft: true)
        await second.pipeline.carryOutPurges()
        cluster.wall.advance(seconds: 1)
        #expect(try await second.ask().cache.originStatus == 304)
        #expect(try await cluster.node().tier() == .shared)
        #expect(cluster.origin.fetches.value == 2)
    }

    @Test(arguments: Cluster.targets)
    func `A server that was away carries out what it missed before it answers`(target: PurgeTarget) async throws {
        let cluster = try Self.cluster()
        let (disk, first) = (MemoryDisk(), await cluster.node())
        try await cluster.node(disk: disk).ask()
        cluster.wall.advance(seconds: 1_800)
        await first.pipeline.purge(target)
        let back = await cluster.node(disk: disk)
        #expect(try await back.ask().cache.forwarded == .miss)
    }

    @Test func `Until a server has read what others purged, it validates what is on its disk`() async throws {
        let cluster = try Self.cluster()
        let disk = MemoryDisk()
        try await cluster.node(disk: disk).ask()
        cluster.bucket.fail { _, _ in .unreachable(.refused) }
        let back = await cluster.node(disk: disk)
        #expect(try await back.ask().cache.originStatus == 304)
        cluster.bucket.fail(nil)
    }

    @Test func `Until a server can read what others purged, it validates what they have stored`() async throws {
        let cluster = try Self.cluster()
        try await cluster.node().ask()
        cluster.bucket.fail { _, name in name.contains("/p/") ? .unreachable(.refused) : nil }
        let other = await cluster.node()
        #expect(try await other.ask().cache.originStatus == 304)
        cluster.bucket.fail(nil)
        await other.pipeline.carryOutPurges()
        #expect(try await other.tier() == .memory)
    }

    @Test func `A server that was away for longer than purges are kept forgets everything`() async throws {
        let cluster = try Self.cluster()
        let disk = MemoryDisk()
        try await cluster.node(disk: disk).ask()
        cluster.wall.advance(seconds: 7 * 86_400)
        _ = await cluster.node(disk: disk)
        #expect(disk.count <= 1)
    }

    @Test func `A server that was cut off for longer than purges are kept asks origins about older images`()
        async throws
    {
        let cluster = try Cluster(.control("max-age=31536000", etag: "a"))
        let node = await cluster.node()
        try await node.ask()
        cluster.wall.advance(seconds: 7 * 86_400)
        await node.pipeline.carryOutPurges()
        cluster.wall.advance(seconds: 1)
        #expect(try await node.ask().cache.originStatus == 304)
        #expect(try await node.tier() == .memory)
    }

    @Test(arguments: [Int64.min, .max, 4_000_000_000_000])
    func `A server whose saved position is not in the past forgets everything`(position: Int64) async throws {
        let cluster = try Self.cluster()
        let disk = MemoryDisk()
        try await cluster.node(disk: disk).ask()
        let damaged = StoredEntry(body: ByteBuffer(), metadata: PurgeProgress(position: position).bytes)
        #expect(disk.store(damaged, for: PurgeProgress.key))
        _ = await cluster.node(disk: disk)
        #expect(disk.count <= 1)
    }

    @Test func `A purge that the store does not take is reported, and carried out here`() async throws {
        let cluster = try Self.cluster()
        let node = await cluster.node()
        try await node.ask()
        cluster.bucket.fail { operation, _ in operation == .write ? .forbidden(code: nil) : nil }
        #expect(await node.pipeline.purge(.source(.example)).propagation == .failed)
        #expect(try await node.ask().cache.forwarded == .miss)
    }

    @Test func `What still waits to be written when a purge comes is not written`() async throws {
        let cluster = try Self.cluster()
        let node = await cluster.node()
        let gate = Gate()
        // As many as are written at the same time.
        for _ in 0..<8 { cluster.bucket.hold(.write, at: gate) { $0.contains("/o-") } }
        for number in 0..<9 {
            _ = try await node.pipeline.image(for: ImageRequest(url: "http://example.com/\(number).png"))
        }
        await gate.holds(8)
        await node.pipeline.purge(.host("example.com"))
        gate.open()
        await node.store.flush()
        let written = (0..<9).filter { number in
            let source = RequestKeys.source("http://example.com/\(number).png").hex
            return cluster.bucket.names.contains { $0.hasPrefix("1/s/\(source)/o-") }
        }
        #expect(!written.contains(8))
    }

    @Test(arguments: [PurgeTarget.host("example.com"), .everything])
    func `Other servers carry a purge out while the first one is still at it`(target: PurgeTarget) async throws {
        let cluster = try Self.cluster()
        let (disk, gate) = (MemoryDisk(), Gate())
        let (first, second) = (await cluster.node(disk: disk), await cluster.node())
        try await first.ask()
        try await second.ask()
        disk.holdRemoving(at: gate)
        let purge = Task { await first.pipeline.purge(target) }
        await gate.holds(1)
        #expect(await second.pipeline.carryOutPurges())
        #expect(try await second.ask().cache.forwarded == .miss)
        // Its own reads of the log do not start it again.
        #expect(await first.pipeline.carryOutPurges())
        gate.open()
        #expect(await purge.value.propagation == .within(.seconds(6)))
        #expect(try await first.tier() == .shared)
    }

    @Test func `Emptying one tier of one server concerns no other`() async throws {
        let cluster = try Self.cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await first.ask()
        try await second.ask()
        let report = await first.pipeline.purge(.everything, tiers: .memory)
        #expect(report.propagation == nil)
        await second.pipeline.carryOutPurges()
        #expect(try await second.tier() == .memory)
    }

    @Test func `A server that was suspended reads the purges before it answers`() async throws {
        let cluster = try Self.cluster()
        let time = Mutex(ContinuousClock.now)
        let (first, second) = (
            await cluster.node(), await cluster.node { time.withLock(\.self) }
        )
        try await first.ask()
        try await second.ask()
        await first.pipeline.purge(.source(.example))
        #expect(try await second.tier() == .memory)
        time.withLock { $0 += .seconds(60) }
        #expect(try await second.ask().cache.forwarded == .miss)
    }

    @Test func `While purges take long to carry out, images are served as their origins confirm them`() async throws {
        let cluster = try Self.cluster()
        let disk = MemoryDisk()
        let time = Mutex(ContinuousClock.now)
        let clock = TestClock()
        let (first, second) = (
            await cluster.node(), await cluster.node(disk: disk, clock: clock) { time.withLock(\.self) }
        )
        try await second.ask()
        await first.pipeline.purge(.source(.example))
        let gate = Gate()
        disk.holdRemoving(at: gate)
        time.withLock { $0 += .seconds(60) }
        let poll = Task { await second.pipeline.carryOutPurges() }
        await gate.holds(1)
        let answer = Task { try await second.ask().cache.originStatus }
        while await clock.nextSleep() != .milliseconds(900) {}
        clock.advance(by: .seconds(1))
        #expect(try await answer.value == 304)
        gate.open()
        _ = await poll.value
    }

    @Test func `A purge that stays damaged counts as one of everything`() async throws {
        let cluster = try Self.cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await second.ask()
        await first.pipeline.purge(.tag("winter"))
        let name = try #require(cluster.bucket.names.first { $0.hasPrefix("1/p/") })
        cluster.bucket[name] = ByteBuffer(string: "x")
        await second.pipeline.carryOutPurges()
        #expect(try await second.ask().cache.forwarded == .miss)
    }

    @Test func `A damaged purge that cannot be looked at again does not keep others from being carried out`()
        async throws
    {
        let cluster = try Self.cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await second.ask()
        await first.pipeline.purge(.tag("winter"))
        let name = try #require(cluster.bucket.names.first { $0.hasPrefix("1/p/") })
        cluster.bucket[name] = ByteBuffer(string: "x")
        cluster.wall.advance(seconds: 1)
        await first.pipeline.purge(.host("example.com"))
        let lists = Mutex(0)
        cluster.bucket.fail { operation, name in
            guard operation == .list, name.hasPrefix("1/p/") else { return nil }
            return lists.withLock { count in
                count += 1
                return count == 2 ? .notFound : nil
            }
        }
        #expect(await !second.pipeline.carryOutPurges())
        cluster.bucket.fail(nil)
        #expect(try await second.ask().cache.forwarded == .miss)
    }

    @Test(arguments: [1, 3])
    func `A purge that cannot be read at once is read again at once`(failures: Int) async throws {
        let cluster = try Self.cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await second.ask()
        await first.pipeline.purge(.source(.example))
        let left = Mutex(failures)
        cluster.bucket.fail { operation, name in
            guard operation == .read, name.hasPrefix("1/p/") else { return nil }
            return left.withLock { left in
                left -= 1
                return left >= 0 ? .notS3(status: 200) : nil
            }
        }
        #expect(await second.pipeline.carryOutPurges())
        cluster.bucket.fail(nil)
        #expect(try await second.ask().cache.forwarded == .miss)
    }

    @Test func `A purge that cannot be read keeps no other from being carried out`() async throws {
        let cluster = try Self.cluster()
        let (first, second) = (await cluster.node(), await cluster.node())
        try await second.ask()
        await first.pipeline.purge(.tag("winter"))
        let unreadable = try #require(cluster.bucket.names.first { $0.hasPrefix("1/p/") })
        cluster.wall.advance(seconds: 1)
        await first.pipeline.purge(.source(.example))
        cluster.bucket.fail { operation, name in
            operation == .read && name == unreadable ? .notS3(status: 200) : nil
        }
        #expect(await second.pipeline.carryOutPurges() == false)
        #expect(try await second.ask().cache.forwarded == .miss)
    }

    @Test(arguments: [
        (PurgeTarget.everything, 0), (.host("example.com"), 6), (.prefix("http://example.com/1"), 15),
        (.tag("winter"), 18),
    ])
    func `The objects of a purge are deleted in the background`(target: PurgeTarget, left: Int) async throws {
        let cluster = try Self.cluster()
        let node = await cluster.node()
        for host in ["example.com", "example.org"] {
            for number in 1...(host == "example.com" ? 4 : 2) { try await node.ask("http://\(host)/\(number).png") }
        }
        @Sendable func objects() -> Int { cluster.bucket.names.filter { $0.hasPrefix("1/s/") }.count }
        #expect(objects() == 18)
        // A server that knows none of the sources.
        await cluster.node().pipeline.purge(target)
        if left == 18 {
            await cluster.bucket.operations.wait { $0[.list] != nil }
        } else {
            await cluster.bucket.waitForNames { $0.count { $0.hasPrefix("1/s/") } == left }
        }
        #expect(objects() == left)
    }

    @Test func `Old purges are deleted, purges of hosts and tags only when no object can be older`() async throws {
        let cluster = try Self.cluster()
        let node = await cluster.node()
        await node.pipeline.purge(.source(.example))
        await node.pipeline.purge(.tag("shoes"))
        func purges() -> Int { cluster.bucket.names.filter { $0.hasPrefix("1/p/") }.count }
        for (days, count) in [(1.0, 2), (7.0, 1), (20.0, 1), (4.0, 0)] {
            cluster.wall.advance(seconds: days * 86_400)
            await node.pipeline.carryOutPurges()
            cluster.wall.advance(seconds: 3_601)
            await node.pipeline.carryOutPurges()
            await node.pipeline.resolver.cache.follower?.sweeps.drain()
            #expect(purges() == count, "\(days)")
        }
    }
}
