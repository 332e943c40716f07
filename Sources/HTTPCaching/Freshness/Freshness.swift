public import Foundation

/// How long a stored response may be used, worked out once and kept with it: asking it costs a subtraction.
public struct Freshness: Hashable, Sendable {
    /// The time from the origin's making of the response for which it is fresh (RFC 9111 §4.2.1).
    public var lifetime: Duration
    /// Where the lifetime is from.
    public var basis: Basis
    /// Whether it may never be used without asking the origin, not even while that fails: `no-cache` and `Vary: *`.
    public var needsValidation: Bool
    /// Whether it may not be used once it is stale (RFC 9111 §4.2.4), but for windows that its origin named.
    public var forbidsStale: Bool
    /// How long after the lifetime's end it may be used while it is revalidated (RFC 5861 §3).
    public var staleWhileRevalidate: Duration
    /// How long after the lifetime's end it may be used while the origin fails (RFC 5861 §4).
    public var staleIfError: Duration
    /// How old it was when it came: `corrected_initial_age` of RFC 9111 §4.2.3.
    public var initialAge: Duration
    /// When it came.
    public var receivedAt: Date
    /// From then on it counts as stale.
    public var staleSince: Date?

    /// How old it is (RFC 9111 §4.2.3); never negative.
    ///
    /// A clock that was set back since the response came leaves no way to know. The time that it jumped is counted as age
    /// then, so that nothing is ever fresh for more than twice its lifetime.
    public func age(at now: Date) -> Duration {
        let resident = Duration(from: receivedAt, to: now)
        return initialAge + (resident < .zero ? .zero - resident : resident)
    }

    /// How long it is still fresh; zero or negative once it is stale, by how long it has been.
    public func remaining(at now: Date) -> Duration {
        let rest = lifetime - age(at: now)
        guard let staleSince else { return rest }
        return min(rest, .zero, Duration(from: now, to: staleSince))
    }

    /// Whether it may answer although the origin, which was asked, has failed.
    public func mayServeStaleOnError(at now: Date) -> Bool {
        guard !needsValidation else { return false }
        let remaining = remaining(at: now)
        return remaining > .zero || .zero - remaining < staleIfError
    }
}

extension Freshness {
    /// Where a lifetime is from.
    public enum Basis: String, CaseIterable, Hashable, Sendable {
        case cdnMaxAge, sharedMaxAge, maxAge, expires
        /// A tenth of the time since `Last-Modified`.
        case heuristic
        /// The operator's `defaultFresh`: the origin said nothing.
        case standard
        /// The operator's `defaultFresh`: the origin was not listened to.
        case fixed
        /// The origin said something that cannot be read, and is stale for that.
        case invalid
        case noCache, noStore, isPrivate

        /// What says so; nil for the operator.
        public var section: String? {
            switch self {
            case .cdnMaxAge: "RFC 9213 §3"
            case .sharedMaxAge: "RFC 9111 §5.2.2.10"
            case .maxAge: "RFC 9111 §5.2.2.1"
            case .expires: "RFC 9111 §5.3"
            case .heuristic: "RFC 9111 §4.2.2"
            case .invalid: "RFC 9111 §4.2.1"
            case .noCache: "RFC 9111 §5.2.2.4"
            case .noStore: "RFC 9111 §5.2.2.5"
            case .isPrivate: "RFC 9111 §5.2.2.7"
            case .standard, .fixed: nil
            }
        }
    }
}
