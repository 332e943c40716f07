import Synchronization
import Testing

@testable import DarkroomStore

@Suite struct PressureReliefTests {
    private static let high = MemoryPressureTests.reading(used: 950)
    private static let between = MemoryPressureTests.reading(used: 850)
    private static let stalled = MemoryPressureTests.reading(used: 700, stalled: 0.2)
    private static let low = MemoryPressureTests.reading(used: 700)

    static let stories: [(title: String, steps: [(reading: MemoryPressure.Reading, step: PressureWatch.Step)])] = [
        ("without pressure nothing is done", [(low, .rest), (between, .rest), (low, .rest)]),
        (
            "it begins once and ends once",
            [(high, .relieve(isRepeated: false)), (between, .rest), (low, .end), (low, .rest)]
        ),
        (
            "while memory is as short as when it began, caches shrink again and again",
            [(high, .relieve(isRepeated: false))] + Array(repeating: (high, .relieve(isRepeated: true)), count: 3)
                + [(low, .end)]
        ),
        (
            "while it lasts caches shrink again after a pause",
            [(high, .relieve(isRepeated: false))] + Array(repeating: (between, .rest), count: 9)
                + [(between, .relieve(isRepeated: true))] + Array(repeating: (stalled, .rest), count: 9)
                + [(stalled, .relieve(isRepeated: true)), (low, .end)]
        ),
        (
            "a new pressure is met at once",
            [
                (high, .relieve(isRepeated: false)), (low, .end), (between, .rest), (high, .relieve(isRepeated: false)),
                (between, .rest),
            ]
        ),
    ]

    @Test(arguments: stories)
    func `a watch acts as told, reading once a second`(
        title: String, steps: [(reading: MemoryPressure.Reading, step: PressureWatch.Step)]
    ) {
        var watch = PressureWatch()
        for (number, (reading, step)) in steps.enumerated() {
            #expect(watch.next(reading, after: .seconds(1)) == step, "\(title), step \(number)")
        }
    }

    @Test func `caches shrink under pressure, and the log tells from what to what and when it was over`() async throws {
        let kernel = try FakeKernel()
        let log = LogRecorder()
        let store = MemoryStore(budgetBytes: 100 * MemoryStoreTests.costBytes)
        for number in 1...10 { store.store(entry(), for: key(number)) }
        let other = Mutex(1000)
        let shrinks = Mutex(0)
        let relief = PressureRelief(
            [
                .shrinking(store, toBytes: 4 * MemoryStoreTests.costBytes),
                .init(
                    bytes: { other.withLock { $0 } },
                    shrink: {
                        other.withLock { $0 = 10 }
                        shrinks.withLock { $0 += 1 }
                    }),
            ], pressure: kernel.pressure, logger: log.logger)
        let clock = NapClock()
        let run = Task { await relief.run(clock: clock) }

        await clock.passNap()
        #expect(log.lines == [])
        try kernel.setAvailable(miB: 49)
        await clock.passNap()
        #expect(store.statistics.entries == 4)
        #expect(other.withLock { $0 } == 10)
        #expect(shrinks.withLock { $0 } == 1)
        let line = try #require(log.lines.first)
        #expect(line.hasPrefix("warning: memory is short: caches shrunk"))
        #expect(line.contains("\"cache-bytes-before\": \(10 * MemoryStoreTests.costBytes + 1000)"))
        #expect(line.contains("\"cache-bytes-after\": \(4 * MemoryStoreTests.costBytes + 10)"))
        #expect(line.contains("\"available-bytes\": \(49 << 20)"))

        // Caches with nothing left to give are asked again, without a word.
        for _ in 0..<25 { await clock.passNap() }
        #expect(shrinks.withLock { $0 } == 26)
        #expect(log.lines.count == 1)
        try kernel.setAvailable(miB: 101)
        await clock.passNap()
        #expect(log.count(of: "notice: memory is no longer short") == 1)
        #expect(log.lines.count == 2)

        run.cancel()
        await clock.passLastNap()
        await run.value
    }

    @Test func `what came in during a long pressure goes again, and is told`() async throws {
        let kernel = try FakeKernel(availableMiB: 1)
        let log = LogRecorder()
        let store = MemoryStore(budgetBytes: 100 * MemoryStoreTests.costBytes)
        let relief = PressureRelief(
            [.shrinking(store, toBytes: 0)], pressure: kernel.pressure, logger: log.logger)
        let clock = NapClock()
        let run = Task { await relief.run(clock: clock) }
        await clock.passNap()
        store.store(entry(), for: key(1))
        try kernel.setAvailable(miB: 80)
        for _ in 0..<9 { await clock.passNap() }
        #expect(store.statistics.entries == 1)
        await clock.passNap()
        #expect(store.statistics.entries == 0)
        #expect(log.count(of: "memory is short") == 2)
        run.cancel()
        await clock.passLastNap()
        await run.value
    }
}

/// A clock whose sleepers the test wakes, one after the other.
private final class NapClock: Clock {
    typealias Instant = ContinuousClock.Instant
    typealias Nap = CheckedContinuation<Void, Never>

    private let naps: AsyncStream<Nap>
    private let begun: AsyncStream<Nap>.Continuation
    private let current = Mutex<Nap?>(nil)
    private let start = ContinuousClock.now

    init() {
        (naps, begun) = AsyncStream.makeStream()
    }

    var now: Instant { start }
    var minimumResolution: Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await withCheckedContinuation { _ = begun.yield($0) }
        try Task.checkCancellation()
    }

    /// Ends the nap under way or the next one, and waits for the one after it.
    func passNap() async {
        await passLastNap()
        let next = await nextNap()
        current.withLock { $0 = next }
    }

    /// Ends the nap under way or the next one.
    func passLastNap() async {
        var nap = current.withLock { $0.take() }
        if nap == nil { nap = await nextNap() }
        nap?.resume()
    }

    private func nextNap() async -> Nap? {
        var iterator = naps.makeAsyncIterator()
        return await iterator.next()
    }
}

extension PressureRelief.Cache {
    fileprivate static func shrinking(_ store: MemoryStore, toBytes bytes: Int) -> Self {
        Self(bytes: { store.statistics.bytes }, shrink: { store.shrink(toBytes: bytes) })
    }
}
