package import Foundation
import Synchronization

/// The time of a test, which stands still until the test advances it. Sleeps end when time reaches their deadline or
/// their task is canceled.
package final class TestClock: Clock {
    package struct Instant: InstantProtocol {
        /// The time since the clock was made.
        package var offset: Swift.Duration

        package func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let number: Int
        let deadline: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var date: Date
        var lastNumber = 0
        var sleepers: [Sleeper] = []
        var skipped: [Swift.Duration] = []

        /// Moves time forward.
        ///
        /// - Returns: the sleepers whose deadlines have passed, the earliest first.
        mutating func advance(by duration: Swift.Duration) -> [Sleeper] {
            now = now.advanced(by: duration)
            date += duration / .seconds(1)
            defer { sleepers.removeAll { $0.deadline <= now } }
            return sleepers.filter { $0.deadline <= now }.sorted { $0.deadline < $1.deadline }
        }
    }

    private let state: Mutex<State>
    private let skips: @Sendable (Swift.Duration) -> Bool
    private let start = ContinuousClock.now
    private let (begun, begin) = AsyncStream<Swift.Duration>.makeStream()
    private let (cancellations, cancellation) = AsyncStream<Void>.makeStream()

    /// - Parameters:
    ///   - date: the first date; by default the one in the examples of RFC 9110.
    ///   - skips: whether time advances by itself to the end of a sleep of this length.
    package init(
        date: Date = Date(timeIntervalSince1970: 784_111_777),
        skips: @escaping @Sendable (Swift.Duration) -> Bool = { _ in false }
    ) {
        state = Mutex(State(date: date))
        self.skips = skips
    }

    package var now: Instant { state.withLock(\.now) }
    package var minimumResolution: Swift.Duration { .zero }

    /// The time since the clock was made.
    package var elapsed: Swift.Duration { now.offset }
    /// The time as the system's clock for durations would report it.
    package var instant: ContinuousClock.Instant { start + elapsed }
    /// The time as the system's wall clock would report it.
    package var date: Date { state.withLock(\.date) }

    /// The number of sleeps until now.
    package var sleepCount: Int { state.withLock(\.lastNumber) }
    /// The lengths of the sleeps that were skipped.
    package var skipped: [Swift.Duration] { state.withLock(\.skipped) }

    package func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                add(Sleeper(number: number, deadline: deadline, continuation: continuation))
            }
        } onCancel: {
            let sleeper = state.withLock { state in
                state.sleepers.firstIndex { $0.number == number }.map { state.sleepers.remove(at: $0) }
            }
            sleeper?.continuation.resume(throwing: CancellationError())
            cancellation.yield()
        }
    }

    private func add(_ sleeper: Sleeper) {
        let woken = state.withLock { state -> [Sleeper]? in
            if Task.isCancelled { return nil }
            let length = max(state.now.duration(to: sleeper.deadline), .zero)
            state.sleepers.append(sleeper)
            begin.yield(length)
            guard skips(length) else { return state.advance(by: .zero) }
            state.skipped.append(length)
            return state.advance(by: length)
        }
        guard let woken else { return sleeper.continuation.resume(throwing: CancellationError()) }
        for sleeper in woken { sleeper.continuation.resume() }
    }

    /// Waits for the next sleep that no earlier call has returned, and returns its length; nil after cancellation.
    package func nextSleep() async -> Swift.Duration? {
        for await length in begun { return length }
        return nil
    }

    /// Waits for the next sleep, and lets it pass.
    package func passSleep() async {
        if let length = await nextSleep() { advance(by: length) }
    }

    /// Lets so many sleeps pass, one after the other, and waits for another one to begin.
    package func passSleeps(_ count: Int = 1) async {
        for _ in 0..<count { await passSleep() }
        if let next = await nextSleep() { begin.yield(next) }
    }

    /// Waits for the next sleep that ends because its task is canceled.
    package func nextCancellation() async { await cancellations.first { true } }

    package func advance(by duration: Swift.Duration) {
        for sleeper in state.withLock({ $0.advance(by: duration) }) { sleeper.continuation.resume() }
    }

    /// - Parameter offset: the time since the clock was made.
    package func advance(to offset: Swift.Duration) { advance(by: offset - elapsed) }

    /// Sets the wall clock ahead or back, while no time passes.
    package func setDate(ahead seconds: TimeInterval) {
        state.withLock { $0.date += seconds }
    }
}
