import DarkroomTestClock
import DarkroomTestLogs
import Logging
import Synchronization
import Testing

@testable import DarkroomMachine

@Suite struct PressureReliefTests {
    private static let high = MemoryPressureTests.reading(used: 950)
    private static let between = MemoryPressureTests.reading(used: 850)
    private static let stalled = MemoryPressureTests.reading(used: 700, stalled: 0.2)
    private static let low = MemoryPressureTests.reading(used: 700)

    static let cases: [(title: String, steps: [(reading: MemoryPressure.Reading, step: PressureWatch.Step)])] = [
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

    @Test(arguments: cases)
    func `A watch decides at each reading, once a second`(
        title: String, steps: [(reading: MemoryPressure.Reading, step: PressureWatch.Step)]
    ) {
        var watch = PressureWatch()
        for (number, (reading, step)) in steps.enumerated() {
            #expect(watch.next(reading, after: .seconds(1)) == step, "\(title), step \(number)")
        }
    }

    @Test func `Caches shrink under pressure, and the log has the sizes before and after, and the end`() async throws {
        let kernel = try FakeKernel()
        let log = LogRecorder()
        let (first, second) = (FakeCache(bytes: 10_000), FakeCache(bytes: 1000))
        let relief = PressureRelief(
            [first.shrinking(toBytes: 4000), second.shrinking(toBytes: 10)], pressure: kernel.pressure,
            logger: log.logger)
        let clock = TestClock()
        let run = Task { await relief.run(clock: clock) }

        await clock.passSleeps()
        #expect(log.lines == [])
        try kernel.setAvailable(miB: 49)
        await clock.passSleeps()
        #expect(first.bytes == 4000)
        #expect(second.bytes == 10)
        #expect(second.shrinks == 1)
        let line = try #require(log.lines.first)
        #expect(line.hasPrefix("warning: memory is short: caches shrunk"))
        #expect(line.contains("\"cache-bytes-before\": 11000"))
        #expect(line.contains("\"cache-bytes-after\": 4010"))
        #expect(line.contains("\"available-bytes\": \(49 << 20)"))

        // Caches that can release nothing more are asked again, without a log line.
        await clock.passSleeps(25)
        #expect(second.shrinks == 26)
        #expect(log.lines.count == 1)
        try kernel.setAvailable(miB: 101)
        await clock.passSleeps()
        #expect(log.lines.count { $0.contains("notice: memory is no longer short") } == 1)
        #expect(log.lines.count == 2)

        run.cancel()
        await run.value
    }

    @Test func `A cache that filled up during a long pressure shrinks again, and that is logged`() async throws {
        let kernel = try FakeKernel(availableMiB: 1)
        let log = LogRecorder()
        let cache = FakeCache(bytes: 1000)
        let relief = PressureRelief([cache.shrinking(toBytes: 0)], pressure: kernel.pressure, logger: log.logger)
        let clock = TestClock()
        let run = Task { await relief.run(clock: clock) }
        await clock.passSleeps()
        #expect(cache.bytes == 0)
        cache.fill(bytes: 500)
        try kernel.setAvailable(miB: 80)
        await clock.passSleeps(9)
        #expect(cache.bytes == 500)
        await clock.passSleeps()
        #expect(cache.bytes == 0)
        #expect(log.lines.count { $0.contains("memory is short") } == 2)
        run.cancel()
        await run.value
    }

    @Test func `A peak is over at the second reading of a quarter of it`() {
        let mebibyte = 1 << 20
        let readings = [
            (31, false), (0, false), (0, false), (40, false), (11, false), (10, false), (12, false), (10, false),
            (9, true), (2, false), (2, false), (33, false), (0, false), (0, true), (0, false), (0, false),
        ]
        var watch = PeakWatch()
        for (number, (size, isOver)) in readings.enumerated() {
            #expect(watch.isOver(at: size * mebibyte) == isOver, "reading \(number)")
        }
    }

    @Test func `Memory is returned after a peak, without pressure and without a log line`() async throws {
        let log = LogRecorder()
        let responses = FakeCache(bytes: 100 << 20)
        let relief = PressureRelief(
            [], transient: responses.shrinking(toBytes: 0), pressure: try FakeKernel().pressure, logger: log.logger)
        let clock = TestClock()
        let run = Task { await relief.run(clock: clock) }
        await clock.passSleeps(2)
        responses.fill(bytes: 1 << 20)
        await clock.passSleeps()
        #expect(responses.shrinks == 0)
        await clock.passSleeps(5)
        #expect(responses.shrinks == 1)
        #expect(log.lines == [])
        run.cancel()
        await run.value
    }
}

/// A cache of which only the size exists.
private final class FakeCache: Sendable {
    private let state: Mutex<(bytes: Int, shrinks: Int)>

    init(bytes: Int) { state = Mutex((bytes, 0)) }

    var bytes: Int { state.withLock { $0.bytes } }
    var shrinks: Int { state.withLock { $0.shrinks } }

    func fill(bytes: Int) { state.withLock { $0.bytes = bytes } }

    func shrinking(toBytes target: Int) -> PressureRelief.Cache {
        PressureRelief.Cache(
            bytes: { self.bytes },
            shrink: {
                self.state.withLock {
                    $0.bytes = min($0.bytes, target)
                    $0.shrinks += 1
                }
            })
    }
}
