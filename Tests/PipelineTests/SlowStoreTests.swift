import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomObjectStorage
import DarkroomStore
import DarkroomTestClock
import DarkroomTestLogs
import HTTPTypes
import Logging
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Purges that servers read from a store that is slow or fails.
@Suite(.timeLimit(.minutes(2)))
struct SlowStoreTests {
    private let cluster: Cluster

    init() throws {
        cluster = try Cluster(.control("max-age=3600", etag: "a"))
    }

    @Test(arguments: [500, 2_000])
    func `A server whose store is slow carries out the purges of others`(milliseconds: Int) async throws {
        let time = Mutex(ContinuousClock.now)
        let (first, second) = (await cluster.node(), await cluster.node { time.withLock(\.self) })
        try await second.ask()
        for name in ["a", "b"] {
            await first.pipeline.purge(.source(try SourceURL(parsing: "http://example.com/\(name).png")))
        }
        cluster.bucket.delay(.milliseconds(milliseconds)) { passed in time.withLock { $0 += passed } }
        #expect(await second.pipeline.carryOutPurges())
        cluster.bucket.delay(.zero) { _ in }
        #expect(try await second.ask().cache.forwarded == .miss)
    }

    @Test func `While a read of the purges takes long, origins confirm images again in each interval`() async throws {
        let clock = TestClock()
        let node = await cluster.node(readsPurges: false, clock: clock) { clock.instant }
        try await node.ask()
        let gate = Gate()
        cluster.bucket.hold(.list, at: gate) { $0 == "1/p/" }
        let poll = Task { await node.pipeline.carryOutPurges() }
        for (pause, next) in [(PurgeAssurance.slowRead, Duration.seconds(5)), (.seconds(5), .seconds(5))] {
            cluster.wall.advance(seconds: 1)
            if pause == PurgeAssurance.slowRead { while await clock.nextSleep() != pause {} }
            clock.advance(by: pause)
            while await clock.nextSleep() != next {}
            cluster.wall.advance(seconds: 1)
            #expect(try await node.ask().cache.originStatus == 304)
            #expect(try await node.tier() == .memory)
        }
        gate.open()
        #expect(await poll.value)
        #expect(cluster.origin.fetches.value == 3)
    }

    @Test func `A server does not wait for a long log when it starts, and origins confirm what is on its disk`()
        async throws
    {
        let disk = MemoryDisk()
        try await cluster.node(disk: disk).ask()
        let clock = TestClock()
        let node = await cluster.node(disk: disk, readsPurges: false, clock: clock) { clock.instant }
        let gate = Gate()
        cluster.bucket.hold(.list, at: gate) { $0 == "1/p/" }
        let start = Task { await node.pipeline.catchUpWithPurges() }
        while await clock.nextSleep() != .milliseconds(900) {}
        clock.advance(by: .milliseconds(900))
        await start.value
        #expect(try await node.ask().cache.originStatus == 304)
        gate.open()
    }

    @Test(arguments: [(4, nil), (6, 304)] as [(Int, Int?)])
    func `A read that takes longer than the interval confirms no older record`(
        seconds: Int, status: Int?
    ) async throws {
        let time = Mutex(ContinuousClock.now)
        let node = await cluster.node { time.withLock(\.self) }
        try await node.ask()
        cluster.bucket.fail { _, _ in .timedOut(.response) }
        #expect(await !node.pipeline.carryOutPurges())
        cluster.bucket.fail(nil)
        cluster.bucket.delay(.seconds(seconds)) { passed in time.withLock { $0 += passed } }
        #expect(await node.pipeline.carryOutPurges())
        cluster.bucket.delay(.zero) { _ in }
        #expect(try await node.ask().cache.originStatus == status)
    }

    @Test func `Reads that fail are logged once, and their end after a minute without any`() async throws {
        let time = Mutex(ContinuousClock.now)
        let logs = LogRecorder(level: .notice)
        // However busy the machine is, no read counts as slow.
        let node = await cluster.node(logger: logs.logger, clock: TestClock()) { time.withLock(\.self) }
        for (seconds, isFailing) in [(5, true), (5, true), (5, false), (5, true), (59, false), (2, false), (5, false)] {
            time.withLock { $0 += .seconds(seconds) }
            cluster.bucket.fail { _, _ in isFailing ? .timedOut(.response) : nil }
            #expect(await node.pipeline.carryOutPurges() != isFailing)
        }
        #expect(logs.count(of: "purges of other servers arrive late") == 1)
        #expect(logs.count(of: "purges of other servers arrive in time again") == 1)
    }

    @Test func `The age of the purges that a server knows grows until it has read them`() async throws {
        let time = Mutex(ContinuousClock.now)
        let node = await cluster.node { time.withLock(\.self) }
        cluster.bucket.fail { _, _ in .timedOut(.response) }
        time.withLock { $0 += .seconds(100) }
        await node.pipeline.carryOutPurges()
        #expect(node.store.statistics.purgeLogAge == .seconds(100))
        cluster.bucket.fail(nil)
        await node.pipeline.carryOutPurges()
        #expect(node.store.statistics.purgeLogAge == .zero)
    }
}
