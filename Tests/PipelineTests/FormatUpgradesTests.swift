import DarkroomOrigin
import DarkroomRequests
import DarkroomWaiting
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// The bounds of the work behind answers in a quicker format.
@Suite(.timeLimit(.minutes(5)))
struct FormatUpgradesTests {
    private static let limits = BackgroundJobs<FormatUpgrades.Key>.Limits(running: 1, heldBytes: 100)

    private func upgrades(
        isOverloaded: @escaping @Sendable () -> Bool = { false },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) -> FormatUpgrades {
        FormatUpgrades(
            BackgroundJobs(Self.limits, isOverloaded: isOverloaded, now: now),
            deadlines: DeadlineTimer(.seconds(60), clock: ContinuousClock()))
    }

    private func key(_ number: Int) -> FormatUpgrades.Key {
        let source = RequestKeys.source("\(number)")
        return FormatUpgrades.Key(
            variant: RequestKeys.original(of: source), epoch: PurgeEpochs().current)
    }

    @Test func `A preferred format that cannot be made is not tried again for a while`() async throws {
        let key = key(1)
        let now = Mutex(ContinuousClock.now)
        let upgrades = upgrades(now: { now.withLock(\.self) })
        upgrades.start(key, holding: 0) { () async throws(PipelineError) in throw .failed }
        await upgrades.jobs.drain()
        #expect(upgrades.jobs.isPending(key) && !upgrades.jobs.isUnderWay(key))
        let runs = Counter()
        upgrades.start(key, holding: 0) { () async throws(PipelineError) in runs.add() > 0 }
        await upgrades.jobs.drain()
        #expect(runs.value == 0)
        now.withLock { $0 += Self.limits.restAfterFailure }
        #expect(!upgrades.jobs.isPending(key))
        upgrades.start(key, holding: 0) { () async throws(PipelineError) in runs.add() > 0 }
        await upgrades.jobs.drain()
        #expect(runs.value == 1)
        #expect(upgrades.statistics.outcomes.map(\.count) == [1, 0, 1])
    }

    @Test func `An image that was not stored, or took too long on a thread, is not made again for a while`() async {
        let now = Mutex(ContinuousClock.now)
        let upgrades = upgrades(now: { now.withLock(\.self) })
        let waiting = Urgency(.background)
        waiting.setQueued(true)
        upgrades.start(key(1), holding: 0) { () async throws(PipelineError) in false }
        upgrades.start(key(2), holding: 0) { () async throws(PipelineError) in throw .timedOut }
        upgrades.start(key(3), holding: 0, urgency: waiting) { () async throws(PipelineError) in throw .timedOut }
        await upgrades.jobs.drain()
        #expect(upgrades.statistics.outcomes.map(\.count) == [0, 1, 2])
        now.withLock { $0 += Self.limits.restAfterDrop }
        #expect((1...3).map { upgrades.jobs.isPending(key($0)) } == [true, true, false])
    }

    @Test func `A failure is remembered, however many other jobs are dropped`() async {
        let isOverloaded = Mutex(false)
        let upgrades = upgrades(isOverloaded: { isOverloaded.withLock(\.self) })
        upgrades.start(key(0), holding: 0) { () async throws(PipelineError) in throw .failed }
        await upgrades.jobs.drain()
        isOverloaded.withLock { $0 = true }
        for number in 1...(Self.limits.resting + 1) {
            upgrades.start(key(number), holding: 0) { () async throws(PipelineError) in true }
        }
        #expect(upgrades.jobs.isPending(key(0)))
        #expect(upgrades.jobs.isPending(key(Self.limits.resting + 1)))
    }

    @Test func `Jobs beyond the queue, or the bytes that may be held, are dropped`() async {
        let gate = Gate()
        let upgrades = upgrades()
        let runs = Counter()
        func start(_ number: Int, holding bytes: Int = 0) {
            upgrades.start(key(number), holding: bytes) { () async throws(PipelineError) in
                await gate.pass()
                return runs.add() > 0
            }
        }
        start(0, holding: 60)
        start(1_000, holding: 41)
        #expect(upgrades.statistics.outcomes.map(\.count) == [0, 1, 0])
        for number in 1...(Self.limits.waiting + 3) { start(number) }
        let before = upgrades.statistics
        #expect(before.running == 1 && before.waiting == Self.limits.waiting)
        gate.open()
        await upgrades.jobs.drain()
        #expect(runs.value == Self.limits.waiting + 1)
        #expect(upgrades.statistics.outcomes.map(\.count) == [Self.limits.waiting + 1, 4, 0])
    }

    @Test func `Under overload nothing is started, and refused work counts as dropped`() async {
        let isOverloaded = Mutex(true)
        let now = Mutex(ContinuousClock.now)
        let upgrades = upgrades(isOverloaded: { isOverloaded.withLock(\.self) }, now: { now.withLock(\.self) })
        let runs = Counter()
        upgrades.start(key(1), holding: 0) { () async throws(PipelineError) in runs.add() > 0 }
        #expect(upgrades.jobs.isPending(key(1)) && runs.value == 0)
        isOverloaded.withLock { $0 = false }
        now.withLock { $0 += Self.limits.restAfterDrop }
        upgrades.start(key(1), holding: 0) { () async throws(PipelineError) in
            runs.add()
            throw .overloaded(retryAfterSeconds: 1)
        }
        await upgrades.jobs.drain()
        #expect(runs.value == 1)
        #expect(upgrades.statistics.outcomes.map(\.count) == [0, 2, 0])
    }

    @Test func `After a shutdown nothing is started`() async {
        let upgrades = upgrades()
        upgrades.jobs.shutdown()
        upgrades.start(key(1), holding: 0) { () async throws(PipelineError) in
            Issue.record("It runs.")
            return true
        }
        await upgrades.jobs.drain()
        #expect(upgrades.statistics.running == 0)
    }
}
