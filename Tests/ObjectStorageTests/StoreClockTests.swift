import DarkroomHTTPCaching
import DarkroomTestRandom
import Foundation
import Synchronization
import Testing

@testable import DarkroomObjectStorage

/// The store's time, as its answers tell it to a system with another clock.
struct StoreClockTests {
    private static let start = Date(timeIntervalSince1970: 1_800_000_000)

    @Test(arguments: [
        (0.0, 0.0), (1, 1), (-1, 0), (7, 7), (-7, -6), (-600, -599), (3_600, 3_600), (90_000, 0),
    ])
    func `The clock follows the dates of answers as far as they prove a difference`(
        difference: TimeInterval, correction: TimeInterval
    ) async throws {
        let system = { @Sendable in Self.start }
        try await StubStore.run(now: system) { _ in
            Reply.object("x", fields: ["Date: \(HTTPDate(Self.start + difference))"])
        } testing: { stub in
            _ = try await stub.store.get(.media("k"), maxBytes: 9, within: .seconds(60))
            #expect(stub.store.clockOffset == correction)
        }
    }

    @Test func `A clock that is right again is no longer corrected, whatever slow answers say`() {
        let system = Mutex(Self.start)
        let clock = StoreClock { system.withLock(\.self) }
        clock.correct(to: Self.start + 3_600)
        clock.follow(Self.start + 3_590, sentAt: Self.start - 60)
        #expect(clock.correction == 3_600)
        // The clock was set back while the store answered.
        clock.follow(Self.start, sentAt: Self.start + 1)
        #expect(clock.correction == 3_600)
        clock.follow(Self.start - 1, sentAt: Self.start - 1)
        #expect(abs(clock.correction) <= 1)
    }

    @Test func `A clock that is about right keeps its time`() {
        let system = Mutex(Self.start)
        let clock = StoreClock { system.withLock(\.self) }
        for (milliseconds, error) in [(0, -0.4), (999, 0.4), (10, -0.45), (990, 0.45), (500, 0)] {
            let date = Self.start + Double(milliseconds) / 1_000
            system.withLock { $0 = date + error }
            clock.follow(Self.start, sentAt: date + error - 0.02)
            #expect(clock.correction == 0)
        }
    }

    /// A system whose clock is wrong, drifts, and is set, and a store that answers promptly or slowly.
    private struct Simulation {
        var random: SeededRandom
        /// The store's time.
        var time = StoreClockTests.start.timeIntervalSince1970
        /// The system's time minus the store's.
        var error: TimeInterval
        /// Seconds per second.
        let drift: Double

        init(seed: UInt64, error: TimeInterval) {
            random = SeededRandom(seed: seed)
            self.error = error
            drift = .random(in: -0.000_2...0.000_2, using: &random)
        }

        var system: Date { Date(timeIntervalSince1970: time + error) }

        mutating func pass(_ seconds: TimeInterval) {
            time += seconds
            error += seconds * drift
        }

        /// - Returns: the answer's date in whole seconds.
        mutating func answer(after seconds: TimeInterval) -> Date {
            let there = TimeInterval.random(in: 0...1, using: &random) * seconds
            pass(there)
            let date = Date(timeIntervalSince1970: time.rounded(.down))
            pass(seconds - there)
            return date
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>, [0, 0.3, -3, 5.9, -6.1, 40, -3_600, 80_000])
    func `Each answer bounds the error, and none increases it`(seed: UInt64, error: TimeInterval) {
        let simulation = Mutex(Simulation(seed: seed, error: error))
        let clock = StoreClock { simulation.withLock(\.system) }
        @Sendable func currentError() -> TimeInterval {
            clock.now.timeIntervalSince1970 - simulation.withLock(\.time)
        }
        var sinceSet = 0
        for _ in 0..<500 {
            let (exchange, pause, isSet) = simulation.withLock { simulation in
                (
                    TimeInterval.random(
                        in: Bool.random(using: &simulation.random) ? 0...0.2 : 0...12, using: &simulation.random),
                    TimeInterval.random(in: 0...9, using: &simulation.random),
                    Int.random(in: 0..<100, using: &simulation.random) == 0
                )
            }
            let before = clock.now
            simulation.withLock { $0.pass(pause) }
            #expect(clock.now >= before)
            sinceSet += 1
            if isSet {
                simulation.withLock { $0.error = .random(in: -9_000...9_000, using: &$0.random) }
                sinceSet = 0
            }
            let (sentAt, errorBefore) = (clock.uncorrected, currentError())
            let date = simulation.withLock { $0.answer(after: exchange) }
            clock.follow(date, sentAt: sentAt)
            let rounding = 0.000_01 + exchange * 0.000_2
            #expect(abs(currentError()) <= StoreClock.greatestError(afterExchangeOf: exchange) + rounding)
            #expect(abs(currentError()) <= abs(errorBefore) + rounding)
            if sinceSet >= 100 { #expect(abs(currentError()) <= 1) }
        }
    }
}
