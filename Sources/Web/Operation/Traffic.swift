import Synchronization

/// The requests under way, and whether more are wanted.
package final class Traffic: Sendable {
    private struct State {
        var underWay = 0
        var isStarting: Bool
        var isDraining = false
        var waiters: [CheckedContinuation<Void, Never>] = []
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

    /// Whether the server is going down: requests are still answered, but better sent elsewhere.
    package var isDraining: Bool { state.withLock(\.isDraining) }

    func begin() {
        state.withLock { $0.underWay += 1 }
    }

    func end() {
        let waiters = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.underWay -= 1
            guard state.underWay == 0 else { return [] }
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// From now on the server is going down. Returns at the first moment without a request, or when the task is cancelled.
    package func drain() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayGo = state.withLock { state in
                    state.isDraining = true
                    // `stopWaiting` takes this lock too: a cancellation is seen either here or there.
                    guard state.underWay > 0, !Task.isCancelled else { return true }
                    state.waiters.append(continuation)
                    return false
                }
                if mayGo { continuation.resume() }
            }
        } onCancel: {
            stopWaiting()
        }
    }

    private func stopWaiting() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }
}
