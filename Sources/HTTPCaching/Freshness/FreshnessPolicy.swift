/// The operator's policy on how long originals stay fresh.
public struct FreshnessPolicy: Hashable, Sendable {
    /// The lifetime of responses whose origin states no lifetime and sends no date for a heuristic. Default: 1 hour.
    public var defaultFresh: Duration
    /// The least lifetime, stated or heuristic. Does not apply to `no-store`, `private` and `no-cache`. Default: 0.
    public var minFresh: Duration
    /// The greatest lifetime. Takes precedence over ``minFresh``. Default: 365 days.
    public var maxFresh: Duration
    /// How long a stale response may be served while it is revalidated, if the origin states nothing (RFC 5861 §3).
    /// Default: 0.
    public var staleWhileRevalidate: Duration
    /// How long a stale response may be served while the origin fails, if the origin states nothing (RFC 5861 §4).
    /// Default: 1 day.
    public var staleIfError: Duration
    /// Whether the origin's caching fields are respected. If not, every 200 is stored and is fresh for ``defaultFresh``
    /// from its arrival; only validators and `Vary` still count. Default: true.
    public var respectsOrigin: Bool
    /// Whether a source whose origin failed without stating a lifetime is not requested again for a moment. This
    /// protects both sides and goes beyond RFC 9111. Default: true.
    public var remembersFailures: Bool

    /// The greatest heuristic lifetime, which is a tenth of the time since `Last-Modified` (RFC 9111 §4.2.2): 1 day.
    public static let maxHeuristicFresh = Duration.seconds(86_400)

    /// A policy with the defaults unless parameters say otherwise.
    public init(
        defaultFresh: Duration = .seconds(3_600), minFresh: Duration = .zero,
        maxFresh: Duration = .seconds(365 * 86_400), staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .seconds(86_400), respectsOrigin: Bool = true,
        remembersFailures: Bool = true
    ) {
        self.defaultFresh = defaultFresh
        self.minFresh = minFresh
        self.maxFresh = maxFresh
        self.staleWhileRevalidate = staleWhileRevalidate
        self.staleIfError = staleIfError
        self.respectsOrigin = respectsOrigin
        self.remembersFailures = remembersFailures
    }

    /// The lifetime within ``minFresh`` and ``maxFresh``.
    func clamped(_ lifetime: Duration) -> Duration { min(max(lifetime, minFresh), maxFresh) }
}

/// How long a failure is remembered, by its kind.
package enum FailureRetention: Sendable {
    /// Not at all: the failure says nothing about the source.
    case never
    /// The source does not exist: recorded for the lifetime that the response states, else a minute.
    case gone(StoredResponse?)
    /// A transient failure: recorded for the lifetime that the response states, else with exponential backoff from 1 to
    /// 60 seconds, or longer if the origin sent `Retry-After`. Not recorded if the response says `no-store`.
    case transient(StoredResponse?, retryAfter: Duration? = nil)
    /// A source that this server's rules blocked: a minute.
    case blocked

    static let goneSeconds = 60.0
    static let maxBackoffSeconds = 60.0
    /// The longest lifetime that the response of a transient failure may state.
    static let maxStated = Duration.seconds(3_600)
    /// The longest wait that an origin may ask for. A maintenance page that asks for a day must not hide an image that
    /// is back after an hour.
    package static let maxRetryAfter = Duration.seconds(300)
    /// The jitter as a fraction of the delay, so that sources of one origin are not retried at the same moment.
    static let jitter = 0.2

    /// - Parameters:
    ///   - attempts: consecutive failures, from 1.
    ///   - random: 0..<1.
    package func lifetime(attempts: Int, policy: FreshnessPolicy, random: Double) -> Duration {
        switch self {
        case .never: return .zero
        case .blocked: return .seconds(Self.goneSeconds)
        case .gone(let response?) where response.forbidsStoring(policy),
            .transient(let response?, _) where response.forbidsStoring(policy):
            return .zero
        case .gone(let response): return response?.explicitLifetime(policy) ?? .seconds(Self.goneSeconds)
        case .transient(let response, let retryAfter):
            let stated = Self.stated(response, policy)
            guard stated == .zero else { return stated }
            guard policy.remembersFailures else { return .zero }
            let doubled = min(Double(1 << min(max(attempts - 1, 0), 10)), Self.maxBackoffSeconds)
            let backoff = doubled * (1 - Self.jitter + 2 * Self.jitter * random)
            return max(.seconds(backoff), min(retryAfter ?? .zero, Self.maxRetryAfter))
        }
    }

    /// Whether a failure is remembered longer than HTTP caching allows, which would contact the origin again: the
    /// response stated no lifetime, and its status is not cached heuristically.
    package func isBeyondHTTP(_ policy: FreshnessPolicy) -> Bool {
        switch self {
        case .never, .gone: false
        case .transient(let response, _): Self.stated(response, policy) == .zero
        case .blocked: true
        }
    }

    /// The lifetime that the response of a transient failure states; zero without one.
    private static func stated(_ response: StoredResponse?, _ policy: FreshnessPolicy) -> Duration {
        min(response?.explicitLifetime(policy) ?? .zero, maxStated)
    }
}
