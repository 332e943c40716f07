import Synchronization

/// The priority of shared work: that of its most urgent waiter so far. It only ever rises.
final class Urgency: Sendable {
    private struct State {
        var level: Priority
        var followers: [Urgency] = []
    }

    private let state: Mutex<State>

    init(_ level: Priority) {
        state = Mutex(State(level: level))
    }

    var level: Priority { state.withLock(\.level) }

    /// Raises this work, and whatever it waits for.
    func raise(to level: Priority) {
        let followers = state.withLock { state -> [Urgency] in
            guard level > state.level else { return [] }
            state.level = level
            return state.followers
        }
        for follower in followers { follower.raise(to: level) }
    }

    /// Work that this work waits for is at least as urgent.
    func carry(_ other: Urgency) {
        let level = state.withLock { state in
            state.followers.append(other)
            return state.level
        }
        other.raise(to: level)
    }
}
