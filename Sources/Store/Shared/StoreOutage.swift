import DarkroomNetwork
import DarkroomObjectStorage
import Logging
import Synchronization

/// Keeps requests from a failing store, and logs the beginning and the end of each outage.
final class StoreOutage: Sendable {
    private static let longestPause = Duration.seconds(8)

    /// What fails: "reading" or "writing".
    private let activity: String
    private let instant: @Sendable () -> ContinuousClock.Instant
    private let logger: Logger
    private let state = Mutex((breaker: CircuitBreaker(longestPause: longestPause), ticket: UInt64(0)))

    init(_ activity: String, instant: @escaping @Sendable () -> ContinuousClock.Instant, logger: Logger) {
        self.activity = activity
        self.instant = instant
        self.logger = logger
    }

    /// Whether an outage has begun and not ended.
    var isFailing: Bool { state.withLock { $0.breaker.isOutage } }

    /// Whether requests would be refused now.
    var isPausing: Bool { state.withLock { $0.breaker.refusal(at: instant()) != nil } }

    /// Requests the permission for one activity; nil while the store is not to be contacted.
    func admit() -> CircuitBreaker.Permit? {
        state.withLock { state in
            state.ticket += 1
            guard case .granted(let permit) = state.breaker.admit(at: instant(), ticket: state.ticket) else {
                return nil
            }
            return permit
        }
    }

    /// Records a success, or an error.
    ///
    /// - Returns: whether the store is to blame for the error.
    @discardableResult
    func end(_ permit: CircuitBreaker.Permit, _ error: ObjectStorageError? = nil) -> Bool {
        let outcome = error?.outcome ?? .answered
        let change = state.withLock {
            $0.breaker.record(outcome, of: permit, at: instant(), random: .random(in: 0...1))
        }
        switch change {
        case .outageBegan?:
            logger.warning("shared store: \(activity) fails", metadata: ["reason": "\(error?.description ?? "")"])
        case .outageEnded?: logger.notice("shared store: \(activity) works again")
        case nil: break
        }
        return outcome == .failed
    }
}

extension ObjectStorageError {
    /// What the error says about the store as a whole.
    fileprivate var outcome: CircuitBreaker.Outcome {
        switch self {
        case .canceled: .inconclusive
        case .notFound, .tooLarge, .invalidRequest: .answered
        case .credentials, .noSuchBucket, .forbidden, .slowDown, .unavailable, .refused, .redirected, .timedOut,
            .unreachable, .notS3:
            .failed
        }
    }
}
