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
    private static let targets: [PurgeTarget] = [
        .source(.example), .prefix("http://example.com/"), .host("example.com"), .tag("shoes"), .everything,
    ]
    /// The errors of two clocks in seconds.
    static let errors: [(TimeInterval, TimeInterval)] = [
        (0, 3_600), (3_600, 0), (0, -3_600), (-3_600, 0), (3_600, -3_600), (-3_600, 3_600),
    ]

    private static func cluster() throws -> Cluster {
        var fields = HTTPFields.control("max-age=7200", etag: "a")
        fields[.surrogateKey] = "shoes"
        return try Cluster(fields)
    }

    @Test(arguments: errors, targets)
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

    @Test func `The tolerance covers two clocks whose errors are not corrected`() {
        let most = 2 * StoreClock.leastSkew + StoreClock.longestExchange + 1
        #expect(PurgeFollower.clockTolerance >= Int64(most * 1_000))
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
