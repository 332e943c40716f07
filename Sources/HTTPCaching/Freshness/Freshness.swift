public import Foundation

/// How long a stored response may be used: the result of parsing its caching fields once.
public struct Freshness: Hashable, Sendable {
    /// The freshness lifetime, counted from when the origin generated the response (RFC 9111 §4.2.1).
    public var lifetime: Duration
    /// The source of the lifetime.
    public var basis: Basis
    /// Whether the response must be validated before every use, even while the origin fails: `no-cache` and `Vary: *`.
    public var needsValidation: Bool
    /// Whether the response must not be served stale (RFC 9111 §4.2.4), except within windows that its origin states.
    public var forbidsStale: Bool
    /// How long past its lifetime the response may be served while it is revalidated (RFC 5861 §3).
    public var staleWhileRevalidate: Duration
    /// How long past its lifetime the response may be served while the origin fails (RFC 5861 §4).
    public var staleIfError: Duration
    /// The age on arrival: `corrected_initial_age` of RFC 9111 §4.2.3.
    public var initialAge: Duration
    /// When the response arrived.
    public var receivedAt: Date
    /// The time from which a soft purge makes the response stale. Nil without a purge.
    public var staleSince: Date?

    /// The current age (RFC 9111 §4.2.3). Never negative.
    ///
    /// If the clock was set back after the response arrived, the true age is unknown. The jump counts as age in that
    /// case, so that nothing is fresh for more than twice its lifetime.
    public func age(at now: Date) -> Duration {
        let resident = Duration(from: receivedAt, to: now)
        return initialAge + (resident < .zero ? .zero - resident : resident)
    }

    /// The remaining lifetime. Zero or negative if the response is stale.
    public func remaining(at now: Date) -> Duration {
        let rest = lifetime - age(at: now)
        guard let staleSince else { return rest }
        return min(rest, .zero, Duration(from: now, to: staleSince))
    }

    /// Whether the response may be served although the origin was asked and failed (RFC 5861 §4).
    public func allowsStaleOnError(at now: Date) -> Bool {
        guard !needsValidation else { return false }
        let remaining = remaining(at: now)
        return remaining > .zero || .zero - remaining < staleIfError
    }

    /// The source of a lifetime.
    public enum Basis: String, CaseIterable, Hashable, Sendable {
        case cdnMaxAge, sharedMaxAge, maxAge, expires
        /// A tenth of the time since `Last-Modified`.
        case heuristic
        /// The operator's ``FreshnessPolicy/defaultFresh``, since the origin states nothing.
        case `default`
        /// The operator's ``FreshnessPolicy/defaultFresh``, since the origin is ignored.
        case fixed
        /// A success other than 200 and 203, which is fresh only if the origin states so.
        case status
        /// A malformed caching field, which makes the response stale.
        case invalid
        case noCache, noStore, isPrivate

        /// The section that defines the lifetime, or nil for the operator's.
        public var section: String? {
            switch self {
            case .cdnMaxAge: "RFC 9213 §3"
            case .sharedMaxAge: "RFC 9111 §5.2.2.10"
            case .maxAge: "RFC 9111 §5.2.2.1"
            case .expires: "RFC 9111 §5.3"
            case .heuristic, .status: "RFC 9111 §4.2.2"
            case .invalid: "RFC 9111 §4.2.1"
            case .noCache: "RFC 9111 §5.2.2.4"
            case .noStore: "RFC 9111 §5.2.2.5"
            case .isPrivate: "RFC 9111 §5.2.2.7"
            case .default, .fixed: nil
            }
        }
    }
}
