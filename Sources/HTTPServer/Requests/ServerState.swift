import Synchronization

/// The lifecycle of the server, its numbers of connections and in-flight requests, and the bytes that wait for slow
/// clients.
package final class ServerState: Sendable {
    private struct State {
        var connections = 0
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

    /// The memory that is free once all clients have left: unsent responses, and an estimate for open connections.
    package var transientBytes: Int { unsent.bytes + state.withLock(\.connections) * Self.connectionBytes }

    /// 5,000 connections take 18 KiB each after their first request.
    static let connectionBytes = 18 << 10

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

    func beginConnection() {
        state.withLock { $0.connections += 1 }
    }

    func endConnection() {
        state.withLock { $0.connections -= 1 }
    }

    func beginRequest() {
        state.withLock { $0.inFlight += 1 }
    }

    func endRequest() {
        state.withLock { $0.inFlight -= 1 }
    }
}
