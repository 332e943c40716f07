import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomRequests
import DarkroomStore
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Purges in the log of a server that starts again with its disk.
@Suite(.timeLimit(.minutes(2)))
struct PurgeRestartTests {

    private let cluster: Cluster
    private let disk = MemoryDisk()

    init() throws {
        cluster = try Cluster.tagged("max-age=86400")
    }

    @Test(arguments: Cluster.targets, [10, 1_800])
    func `What was stored after a purge stays on disk when its server starts again`(
        target: PurgeTarget, seconds: Int
    ) async throws {
        let (other, node) = (await cluster.node(), await cluster.node(disk: disk))
        try await node.ask()
        await other.pipeline.purge(target)
        await node.pipeline.carryOutPurges()
        #expect(try await node.ask().cache.forwarded == .miss)
        cluster.wall.advance(seconds: Double(seconds))
        await node.pipeline.carryOutPurges()
        #expect(try await cluster.node(disk: disk).tier() == .disk)
        #expect(try await cluster.node(disk: disk).tier() == .disk)
        #expect(cluster.origin.fetches.value == 2)
    }

    @Test(arguments: Cluster.targets)
    func `A server does not carry out its own purges when it starts again`(target: PurgeTarget) async throws {
        let node = await cluster.node(disk: disk)
        try await node.ask()
        await node.pipeline.purge(target)
        try await node.ask()
        node.pipeline.shutdown()
        #expect(try await cluster.node(disk: disk).tier() == .disk)
        await cluster.node(disk: disk).pipeline.purge(.everything, tiers: .disk)
        try await cluster.node(disk: disk).ask()
        #expect(try await cluster.node(disk: disk).tier() == .disk)
    }

    @Test func `Purges of single sources do not write the progress one by one`() async throws {
        let node = await cluster.node(disk: disk)
        let saved = await disk.entry(for: PurgeProgress.key)?.metadata
        await node.pipeline.purge(.source(.example))
        #expect(await disk.entry(for: PurgeProgress.key)?.metadata == saved)
        await node.pipeline.carryOutPurges()
        #expect(await disk.entry(for: PurgeProgress.key)?.metadata != saved)
    }

    @Test func `A purge that was announced while the log was read is not carried out again`() async throws {
        let (node, gate) = (await cluster.node(), Gate())
        cluster.bucket.hold(.list, at: gate) { $0 == "1/p/" }
        let poll = Task { await node.pipeline.carryOutPurges() }
        await gate.holds(1)
        await node.pipeline.purge(.everything)
        gate.open()
        #expect(await poll.value)
        try await node.ask()
        await node.pipeline.carryOutPurges()
        #expect(try await node.tier() == .memory)
    }

    @Test func `A progress is the same when it is read again, except for the oldest of very many purges`() {
        let names = (0..<2_000).map { PurgeLog.Name(time: Int64($0), isLasting: $0 % 2 == 0) }
        var progress = PurgeProgress(position: 7)
        progress.distrustedUntil = 8
        progress.done = Set(names.prefix(3))
        #expect(PurgeProgress(progress.bytes) == progress)
        progress.done = Set(names)
        #expect(PurgeProgress(progress.bytes)?.done == Set(names.suffix(1_900)))
        #expect(progress.bytes.readableBytes <= 32 << 10)
        #expect(PurgeProgress(ByteBuffer(string: "short")) == nil)
    }
}
