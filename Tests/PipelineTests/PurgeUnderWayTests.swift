import DarkroomHTTPCaching
import DarkroomNetwork
import HTTPTypes
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// What requests find, and store for other servers, while their server announces a purge.
@Suite(.timeLimit(.minutes(5)))
struct PurgeUnderWayTests {
    private static let other = "http://example.com/b.png"

    private let cluster: Cluster
    private let gate = Gate()

    init() throws {
        cluster = try Cluster.tagged("max-age=3600")
    }

    /// Begins a purge that ends once the gate opens.
    private func purge(_ target: PurgeTarget, soft: Bool = false, by node: Cluster.Node) async -> Task<Void, Never> {
        cluster.wall.advance(seconds: 1)
        cluster.bucket.hold(.write, at: gate) { $0.hasPrefix("1/p/") }
        let purge = Task { _ = await node.pipeline.purge(target, soft: soft) }
        await gate.holds(1)
        return purge
    }

    @Test(arguments: Cluster.targets)
    func `What is made from an image of before the purge does not reach other servers`(
        target: PurgeTarget
    ) async throws {
        let (first, second) = (await cluster.node(), await cluster.node())
        try await first.ask()
        let purge = await purge(target, by: first)
        #expect(try await first.ask(width: 30).cache.forwarded == nil)
        gate.open()
        await purge.value
        #expect(await second.pipeline.carryOutPurges())
        #expect(try await second.ask(width: 30).cache.forwarded == .miss)
    }

    @Test(arguments: Cluster.targets)
    func `After a soft purge, other servers validate it`(target: PurgeTarget) async throws {
        let (first, second) = (await cluster.node(), await cluster.node())
        try await first.ask()
        let purge = await purge(target, soft: true, by: first)
        #expect(try await first.ask(width: 30).cache.forwarded == nil)
        gate.open()
        await purge.value
        #expect(await second.pipeline.carryOutPurges())
        cluster.wall.advance(seconds: 1)
        #expect(try await second.ask(width: 30).cache.originStatus == 304)
    }

    @Test(arguments: Cluster.targets)
    func `What is requested from its origin meanwhile reaches them`(target: PurgeTarget) async throws {
        let (first, second) = (await cluster.node(), await cluster.node())
        let purge = await purge(target, by: first)
        #expect(try await first.ask(Self.other).cache.forwarded == .miss)
        gate.open()
        await purge.value
        #expect(await second.pipeline.carryOutPurges())
        #expect(try await second.tier(Self.other) == .shared)
    }
}
