import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomObjectStorage
import DarkroomStore
import DarkroomWaiting
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Variants from before a purge that are in the store after it, since a server stored them without knowing of the
/// purge. They carry fresh records, which a lookup must not use without asking for the newest one.
@Suite(.timeLimit(.minutes(5)))
struct PurgedVariantTests {
    private static let other = "http://example.org/b.png"

    private let gate = Gate()
    private let cluster: Cluster
    private let disk = MemoryDisk()

    init() throws {
        cluster = try Cluster.tagged("max-age=31536000", gate: gate)
    }

    /// A server that has purged an image of which another server then stored a variant.
    ///
    /// - Parameter errors: the errors of their clocks in seconds, which the store has told them.
    private func purge(
        _ target: PurgeTarget = .source(.example), soft: Bool = false, errors: (Double, Double) = (0, 0)
    ) async throws -> Cluster.Node {
        let node = await cluster.node(disk: disk, secondsAhead: errors.0)
        let slow = await cluster.node(secondsAhead: errors.1)
        let late = Task { try await slow.ask() }
        await cluster.origin.fetches.reaches(1)
        await node.pipeline.purge(target, soft: soft)
        await upkeep(node)
        gate.open()
        _ = try await late.value
        #expect(cluster.bucket.names.contains { $0.contains("/v-") })
        return node
    }

    /// A server that has read the purges from before its start.
    private func start(disk: MemoryDisk = MemoryDisk(), secondsAhead: Double = 0) async -> Cluster.Node {
        let node = await cluster.node(disk: disk, secondsAhead: secondsAhead)
        await upkeep(node)
        return node
    }

    private func upkeep(_ node: Cluster.Node) async {
        await node.pipeline.resolver.cache.follower?.sweeps.drain()
    }

    /// Lets a server sum up and delete purges, day by day.
    private func pass(days: Double, _ node: Cluster.Node) async {
        var left = days
        while left > 0 {
            await pass(seconds: min(left, 1) * 86_400, node)
            left -= 1
        }
        await pass(seconds: 3_601, node)
    }

    private func pass(seconds: Double, _ node: Cluster.Node) async {
        cluster.wall.advance(seconds: seconds)
        await node.pipeline.carryOutPurges()
        await upkeep(node)
    }

    private func isFoundByOneRead(_ url: String, by node: Cluster.Node) async throws -> Bool {
        cluster.bucket.operations.change { $0 = [:] }
        let tier = try await node.tier(url)
        return tier == .shared && cluster.bucket.operations.value == [.read: 1]
    }

    // MARK: Before the lookup

    @Test(arguments: Cluster.targets, [0.02, 1, 6, 8, 20])
    func `A variant from before a purge is not used, however long ago that was`(
        target: PurgeTarget, days: Double
    ) async throws {
        let node = try await purge(target)
        await pass(days: days, node)
        let hasPurge = cluster.bucket.names.contains { $0.hasPrefix("1/p/") }
        #expect(hasPurge == (days < 7 || target != .source(.example)))
        #expect(try await start().ask().cache.forwarded == .miss)
    }

    @Test(arguments: Cluster.targets, [0.02, 8])
    func `After a soft purge, a variant from before it is validated`(target: PurgeTarget, days: Double) async throws {
        let node = try await purge(target, soft: true)
        await pass(days: days, node)
        #expect(try await start().ask().cache.originStatus == 304)
    }

    @Test(arguments: Cluster.targets, [0.02, 1, 6, 8, 20])
    func `What is stored after the purge is found by one read, however long ago that was`(
        target: PurgeTarget, days: Double
    ) async throws {
        let node = try await purge(target)
        cluster.wall.advance(seconds: 60)
        try await node.ask()
        await pass(days: days, node)
        #expect(try await isFoundByOneRead("http://example.com/a.png", by: start()))
    }

    @Test(arguments: Cluster.targets)
    func `A server that starts again knows the purge that it has carried out`(target: PurgeTarget) async throws {
        _ = try await purge(target)
        #expect(try await start(disk: disk).ask().cache.forwarded == .miss)
    }

    @Test(arguments: [(-600, 600, 0), (600, -600, 0), (0, 0, -600), (0, 0, 600)] as [(Double, Double, Double)])
    func `Clocks that differ neither bring a purged variant back nor hide a later one`(
        purging: Double, storing: Double, reading: Double
    ) async throws {
        let node = try await purge(errors: (purging, storing))
        #expect(try await start(secondsAhead: reading).ask().cache.forwarded == .miss)
        cluster.wall.advance(seconds: 60)
        try await node.ask(Self.other)
        #expect(try await isFoundByOneRead(Self.other, by: start(secondsAhead: reading)))
    }

    // MARK: During the lookup

    @Test(arguments: Cluster.targets, [false, true])
    func `A purge that arrives while a variant is read concerns it`(target: PurgeTarget, isSoft: Bool) async throws {
        gate.open()
        let (first, second) = (await cluster.node(), await cluster.node())
        let old = try await first.ask().body
        let reading = Gate()
        cluster.bucket.hold(.read, at: reading) { $0.contains("/v-") }
        let answer = Task { try await second.ask().body }
        await reading.holds(1)
        cluster.origin.answer(.picture(try Pictures.png(color: [0, 0, 200]), .control("max-age=60", etag: "b")))
        await first.pipeline.purge(target, soft: isSoft)
        #expect(await second.pipeline.carryOutPurges())
        reading.open()
        #expect(try await answer.value != old)
        #expect(try await second.ask().body != old)
    }

    @Test(arguments: Cluster.targets, [false, true])
    func `What a server makes of an image while it announces a purge of it is not shared`(
        target: PurgeTarget, isSoft: Bool
    ) async throws {
        gate.open()
        let node = await cluster.node()
        try await node.ask()
        cluster.wall.advance(seconds: 60)
        let announcing = Gate()
        cluster.bucket.hold(.write, at: announcing) { $0.hasPrefix("1/p/") }
        let purge = Task { await node.pipeline.purge(target, soft: isSoft) }
        await announcing.holds(1)
        try await node.ask(width: 30)
        announcing.open()
        #expect(await purge.value.propagation == .within(.seconds(6)))
        await upkeep(node)
        #expect(try await start().ask(width: 30).cache.forwarded != nil)
    }

    // MARK: Purges that are not known

    @Test func `Until a server has read the purges, the newest records are looked for`() async throws {
        _ = try await purge()
        let fresh = await cluster.node(readsPurges: false)
        #expect(try await fresh.ask().cache.forwarded == .miss)
    }

    @Test func `While a server still reads the purges of images, the newest records are looked for`() async throws {
        _ = try await purge()
        cluster.wall.advance(seconds: 1_800)
        let reading = Gate()
        cluster.bucket.hold(.read, at: reading) { $0.hasPrefix("1/p/") }
        let fresh = await cluster.node()
        await reading.holds(1)
        #expect(try await fresh.ask().cache.forwarded == .miss)
        reading.open()
        await upkeep(fresh)
        let other = await start()
        #expect(try await isFoundByOneRead("http://example.com/a.png", by: other))
    }

    @Test(arguments: Cluster.targets)
    func `A server that fails to read the purges any more asks origins about what it finds`(
        target: PurgeTarget
    ) async throws {
        let reader = await cluster.node()
        _ = try await purge(target)
        cluster.bucket.fail { _, name in name.hasPrefix("1/p/") ? .unreachable(.refused) : nil }
        #expect(await !reader.pipeline.carryOutPurges())
        #expect(try await reader.ask().cache.forwarded != nil)
        #expect(cluster.origin.fetches.value == 2)
        cluster.bucket.fail(nil)
    }

    @Test func `Before a purge that cannot be read, the newest records are looked for`() async throws {
        _ = try await purge()
        cluster.wall.advance(seconds: 1_800)
        try await cluster.node().ask(Self.other)
        for name in cluster.bucket.names where name.hasPrefix("1/p/") {
            cluster.bucket[name] = ByteBuffer(string: "x")
        }
        let fresh = await start()
        #expect(try await isFoundByOneRead(Self.other, by: fresh))
        #expect(try await fresh.ask().cache.forwarded == .miss)
    }

    @Test func `A server that was cut off for a week does not sum up purges as if it knew all`() async throws {
        let away = await cluster.node()
        let node = try await purge()
        await pass(days: 8, node)
        await pass(seconds: 60, away)
        try await PurgeLogUpkeep(
            shared: #require(away.pipeline.resolver.cache.shared), log: PurgeLog(away.store),
            source: { RequestKeys.source($0.canonical) }, limit: .seconds(1)
        ).sumUp(position: away.store.milliseconds)
        #expect(try await start().ask().cache.forwarded == .miss)
    }

    @Test(arguments: [true, false])
    func `After a summary by an earlier release, an earlier summary has the purges of images`(
        hasEarlier: Bool
    ) async throws {
        let node = try await purge()
        cluster.wall.advance(seconds: 60)
        try await node.ask(Self.other)
        await pass(days: 8, node)
        cluster.wall.advance(seconds: 60)
        if !hasEarlier {
            for name in cluster.bucket.names where name.hasPrefix("1/f/") { cluster.bucket[name] = nil }
        }
        var bytes = ByteBuffer(integer: UInt8(1))
        for _ in 0..<3 { bytes.writeInteger(Int64(-1)) }
        try await PurgeLog(node.store).append(summary: bytes, until: node.store.milliseconds, within: .seconds(1))
        let fresh = await start()
        #expect(try await isFoundByOneRead(Self.other, by: fresh) == hasEarlier)
        #expect(try await fresh.ask().cache.forwarded == .miss)
    }
}
