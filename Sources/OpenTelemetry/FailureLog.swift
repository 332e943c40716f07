import Logging
import Synchronization

/// Logs spans that were not delivered, at most once a minute.
final class FailureLog: Sendable {
    private struct State {
        var lastLoggedAt: ContinuousClock.Instant?
        /// Spans that no line has reported.
        var unreported = 0
    }

    private static let interval = Duration.seconds(60)

    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    init(_ logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.logger = logger
        self.now = now
    }

    /// - Parameter reason: must not contain header fields that were sent.
    func record(_ count: Int, because reason: String) {
        let now = now()
        let reported = state.withLock { state -> Int? in
            state.unreported += count
            if let last = state.lastLoggedAt, last.duration(to: now) < Self.interval { return nil }
            state.lastLoggedAt = now
            defer { state.unreported = 0 }
            return state.unreported
        }
        guard let reported else { return }
        logger.warning("trace spans were not delivered", metadata: ["spans": "\(reported)", "reason": "\(reason)"])
    }
}
