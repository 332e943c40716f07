import Synchronization

/// The lifecycle of the server, its number of in-flight requests, and the bytes that wait for slow clients.
package final class ServerState: Sendable {
    private struct State {
        var inFlight = 0
        var isStarting: Bool
        var isDraining = false
        var isGraceOver = false
    }

    /// The bytes of responses that wait for slow clients.
    package let unsent: UnsentBytes
    private let state: Mutex<State>

    /// - Parameter isStarting: whether the server is not ready before ``finishStarting()``.
    package init(isStarting: Bool = false, unsent: UnsentBytes = UnsentBytes()) {
        self.unsent = unsent
        state = Mutex(State(isStarting: isStarting))
    }

    /// Whether not all listeners are up yet.
    package var isStarting: Bool { state.withLock(\.isStarting) }

    /// The number of requests without a response. A request no longer counts while the body of its response is being
    /// sent.
    package var inFlightRequests: Int { state.withLock(\.inFlight) }

    /// Whether the server is about to shut down, so that load balancers should send requests elsewhere.
    package var isDraining: Bool { state.withLock(\.isDraining) }

    /// Whether a grace period has ended, so that in-flight requests are canceled although their clients are there.
    var isGraceOver: Bool { state.withLock(\.isGraceOver) }

    /// Marks the server as ready.
    package func finishStarting() {
        state.withLock { $0.isStarting = false }
    }

    /// Marks the server as about to shut down.
    package func startDraining() {
        state.withLock { $0.isDraining = true }
    }

    /// Marks the grace period as over, just before in-flight requests are canceled.
    func endGrace() {
        state.withLock { $0.isGraceOver = true }
    }

    func beginRequest() {
        state.withLock { $0.inFlight += 1 }
    }

    func endRequest() {
        state.withLock { $0.inFlight -= 1 }
    }
}
