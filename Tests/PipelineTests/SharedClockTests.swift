import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomStore
import Foundation
import HTTPTypes
import Testing

@testable import DarkroomCache
@testable import DarkroomObjectStorage
@testable import DarkroomPipeline

/// Servers whose wall clocks are an hour wrong, with a shared tier that tells them the right time.
@Suite(.timeLimit(.minutes(5)))
struct SharedClockTests {
    /// The errors of two clocks in seconds.
    static let errors: [(TimeInterval, TimeInterval)] = [
        (0, 3_600), (3_600, 0), (0, -3_600), (-3_600, 0), (3_600, -3_600), (-3_600, 3_600),
    ]

    /// The errors of two clocks that the store's answers correct.
    static let correctedErrors = [0, 1, 3, 5.9, 6.1, 10, 3_600].flatMap { error -> [(TimeInterval, TimeInterval)] in
        [(error, -error), (-error, error), (error, 0), (-error, 0), (0, error), (0, -error)]
    }

    private static func cluster(gate: Gate? = nil) throws -> Cluster {
        try Cluster.tagged("max-age=7200", gate: gate)
    }

    @Test(arguments: errors, Cluster.targets)
    func `A purge reaches servers with other clocks, the first and every further one`(
        errors: (TimeInterval, TimeInterval), target: PurgeTarget
    ) async throws {
        let cluster = try Self.cluster()
        let (first, second) = (
            await cluster.node(secondsAhead: errors.0), await cluster.node(secondsAhead: errors.1)
        )
        for round in 1...3 {
            try await first.ask()
            try await second.ask()
            cluster.wall.advance(seconds: 30)
            let fetches = cluster.origin.fetches.value
            #expect(await first.pipeline.purge(target).propagation == .within(.seconds(6)), "round \(round)")
            await first.store.flush()
            #expect(await second.pipeline.carryOutPurges())
            #expect(try await second.ask().cache.forwarded == .miss, "round \(round)")
            #expect(cluster.origin.fetches.value == fetches + 1)
            cluster.wall.advance(seconds: 30)
        }
    }

    @Test func `A server that learns the time from the purge log misses no purge after it`() async throws {
        let cluster = try Self.cluster()
        let (first, second) = (
            await cluster.node(), await cluster.node(secondsAhead: 3_600, learnsTime: true)
        )
        try await second.ask()
        cluster.wall.advance(seconds: 1)
        await first.pipeline.purge(.host("example.com"))
        #expect(await second.pipeline.carryOutPurges())
        #expect(try await second.ask().cache.forwarded == .miss)
    }

    @Test func `The tolerance covers the errors of two clocks whose store answers within a second`() {
        let most = 2 * StoreClock.greatestError(afterExchangeOf: 1)
        #expect(PurgeFollower.clockTolerance >= Int64(most * 1_000))
    }

    @Test func `Nodes of the release before add as much to the time of a purge`() {
        #expect(PurgeFollower.orderLead == 15_000)
    }

    @Test(arguments: correctedErrors, Cluster.targets)
    func `What a server fetched eight seconds after a purge is kept when it learns of the purge`(
        errors: (TimeInterval, TimeInterval), target: PurgeTarget
    ) async throws {
        let cluster = try Self.cluster()
        let (first, second) = (
            await cluster.node(secondsAhead: errors.0, learnsTime: true),
            await cluster.node(secondsAhead: errors.1, learnsTime: true)
        )
        await first.pipeline.purge(target)
        cluster.wall.advance(seconds: 8)
        #expect(try await second.ask().cache.forwarded == .miss)
        #expect(await second.pipeline.carryOutPurges())
        #expect(try await second.tier() == .shared)
        #expect(try await first.tier() == .shared)
        #expect(cluster.origin.fetches.value == 1)
    }

    @Test(arguments: correctedErrors, Cluster.targets)
    func `What a server is fetching when it learns of a purge is kept if it was requested eight seconds later`(
        errors: (TimeInterval, TimeInterval), target: PurgeTarget
    ) async throws {
        let gate = Gate()
        let cluster = try Self.cluster(gate: gate)
        let (first, second) = (
            await cluster.node(secondsAhead: errors.0, learnsTime: true),
            await cluster.node(secondsAhead: errors.1, learnsTime: true)
        )
        await first.pipeline.purge(target)
        cluster.wall.advance(seconds: 8)
        let image = Task { try await second.ask() }
        await cluster.origin.fetches.reaches(1)
        #expect(await second.pipeline.carryOutPurges())
        gate.open()
        _ = try await image.value
        #expect(try await second.tier() == .memory)
        #expect(try await first.tier() == .shared)
    }

    @Test(arguments: correctedErrors, Cluster.targets)
    func `What a server was fetching before a purge is not used, whether or not it knows of the purge`(
        errors: (TimeInterval, TimeInterval), target: PurgeTarget
    ) async throws {
        for learns in [false, true] {
            let gate = Gate()
            let cluster = try Self.cluster(gate: gate)
            let (first, second) = (
                await cluster.node(secondsAhead: errors.0, learnsTime: true),
                await cluster.node(secondsAhead: errors.1, learnsTime: true)
            )
            let image = Task { try await second.ask() }
            await cluster.origin.fetches.reaches(1)
            await first.pipeline.purge(target)
            if learns { #expect(await second.pipeline.carryOutPurges()) }
            gate.open()
            _ = try await image.value
            #expect(try await first.ask().cache.forwarded == .miss)
            #expect(await second.pipeline.carryOutPurges())
            #expect(try await second.tier() == .shared)
            #expect(cluster.origin.fetches.value == 2)
        }
    }

    @Test(arguments: [TimeInterval(3_600), -3_600], Cluster.targets)
    func `The first purge of a server that the store has not told the time has the right time`(
        error: TimeInterval, target: PurgeTarget
    ) async throws {
        let cluster = try Self.cluster()
        let other = await cluster.node()
        try await other.ask()
        cluster.wall.advance(seconds: 1)
        let node = await cluster.node(readsPurges: false, secondsAhead: error, learnsTime: true)
        #expect(await node.pipeline.purge(target).propagation == .within(.seconds(6)))
        cluster.wall.advance(seconds: 8)
        let late = await cluster.node(readsPurges: false)
        try await late.ask("http://example.com/late.png")
        #expect(await other.pipeline.carryOutPurges())
        #expect(try await other.ask().cache.forwarded == .miss)
        #expect(try await other.tier("http://example.com/late.png") == .shared)
    }

    @Test func `What a server stores before the store has told it the time has the right order`() async throws {
        let cluster = try Self.cluster()
        let other = await cluster.node()
        cluster.bucket.fail { operation, name in
            operation != .write && name.hasPrefix("1/s/") ? .unreachable(.refused) : nil
        }
        try await cluster.node(readsPurges: false, secondsAhead: 3_600, learnsTime: true).ask()
        cluster.bucket.fail(nil)
        #expect(cluster.bucket.names.contains { $0.contains("/v-") })
        cluster.wall.advance(seconds: 1)
        cluster.bucket.fail { operation, _ in operation == .delete ? .unreachable(.refused) : nil }
        await other.pipeline.purge(.host("example.com"))
        #expect(try await other.ask().cache.forwarded == .miss)
    }

    @Test(arguments: errors)
    func `What was fetched after a purge is kept by the server that purged`(
        errors: (TimeInterval, TimeInterval)
    ) async throws {
        let cluster = try Self.cluster()
        let node = await cluster.node(secondsAhead: errors.0)
        try await node.ask()
        await node.pipeline.purge(.host("example.com"))
        cluster.wall.advance(seconds: 30)
        try await node.ask()
        await node.pipeline.carryOutPurges()
        #expect(try await node.tier() == .memory)
    }

    @Test(arguments: errors)
    func `An image is shared for as long as it is fresh by the right time`(
        errors: (TimeInterval, TimeInterval)
    ) async throws {
        let cluster = try Cluster(.control("max-age=60", etag: "a"))
        try await cluster.node(secondsAhead: errors.0).ask()
        cluster.wall.advance(seconds: 59)
        #expect(try await cluster.node(secondsAhead: errors.1).tier() == .shared)
        cluster.wall.advance(seconds: 2)
        #expect(try await cluster.node(secondsAhead: errors.1).tier() == nil)
    }
}
