import Synchronization

/// A clock that stands still until a test advances it.
package final class SteppedClock: Clock {
    package struct Instant: InstantProtocol {
        package var offset: Swift.Duration
        package func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        package func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [(deadline: Instant, continuation: CheckedContinuation<Void, Never>)] = []
    }

    private let state = Mutex(State())
    /// Yields the end of every sleep that has begun.
    package let sleeps: AsyncStream<Swift.Duration>
    private let sleep: AsyncStream<Swift.Duration>.Continuation

    package init() { (sleeps, sleep) = AsyncStream.makeStream() }

    package var now: Instant { state.withLock(\.now) }
    package var minimumResolution: Swift.Duration { .zero }

    package func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if deadline > state.now { state.sleepers.append((deadline, continuation)) }
                return deadline <= state.now
            }
            if isOver { continuation.resume() }
            sleep.yield(deadline.offset)
        }
    }

    package func advance(to offset: Swift.Duration) {
        let due = state.withLock { state in
            state.now = Instant(offset: offset)
            defer { state.sleepers.removeAll { $0.deadline <= state.now } }
            return state.sleepers.filter { $0.deadline <= state.now }
        }
        for sleeper in due { sleeper.continuation.resume() }
    }
}
