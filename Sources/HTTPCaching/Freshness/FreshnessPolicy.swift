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
