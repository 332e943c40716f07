import Synchronization

/// The requests under way, and whether more are wanted.
package final class ServerState: Sendable {
    private struct State {
        var underWay = 0
        var isStarting: Bool
        var isDraining = false
    }

    private let state: Mutex<State>

    /// - Parameter isStarting: whether requests are not wanted before ``open()``.
    package init(isStarting: Bool = false) {
        state = Mutex(State(isStarting: isStarting))
    }

    /// Whether the server is not up yet.
    package var isStarting: Bool { state.withLock(\.isStarting) }

    /// From now on requests are wanted.
    package func open() {
        state.withLock { $0.isStarting = false }
    }

    /// Requests that have no answer yet. The body of an answer may still be on its way when its request no longer counts.
    package var underWay: Int { state.withLock(\.underWay) }

    /// Whether the server is going down: requests had better be sent elsewhere.
    package var isDraining: Bool { state.withLock(\.isDraining) }

    func begin() {
        state.withLock { $0.underWay += 1 }
    }

    func end() {
        state.withLock { $0.underWay -= 1 }
    }

    /// From now on the server is going down.
    package func drain() {
        state.withLock { $0.isDraining = true }
    }
}
