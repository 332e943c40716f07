/// What an operator says about how long originals stay fresh.
public struct FreshnessPolicy: Hashable, Sendable {
    /// For responses whose origin says nothing and gives no date to guess from. 1 hour.
    public var defaultFresh: Duration
    /// The least for lifetimes that the origin states or that are guessed from its dates; `no-store`, `private` and
    /// `no-cache` stay what they are. 0.
    public var minFresh: Duration
    /// The most for any lifetime. 365 days.
    public var maxFresh: Duration
    /// How long a stale response may be used while it is revalidated, where the origin names no time (RFC 5861 §3). 0.
    public var staleWhileRevalidate: Duration
    /// How long a stale response may be used while the origin fails, where it names no time (RFC 5861 §4). 1 day.
    public var staleIfError: Duration
    /// False makes every 200 storable, and fresh for `defaultFresh` since it came: the origin's caching fields are not
    /// looked at, but for its validators and `Vary`. True.
    public var respectsOrigin: Bool

    /// The most that is guessed from `Last-Modified`, which is a tenth of the time since then (RFC 9111 §4.2.2).
    public static let heuristicCap = Duration.seconds(86_400)

    /// The defaults, unless said otherwise.
    public init(
        defaultFresh: Duration = .seconds(3_600), minFresh: Duration = .zero,
        maxFresh: Duration = .seconds(365 * 86_400), staleWhileRevalidate: Duration = .zero,
        staleIfError: Duration = .seconds(86_400), respectsOrigin: Bool = true
    ) {
        self.defaultFresh = defaultFresh
        self.minFresh = minFresh
        self.maxFresh = maxFresh
        self.staleWhileRevalidate = staleWhileRevalidate
        self.staleIfError = staleIfError
        self.respectsOrigin = respectsOrigin
    }

    /// The operator's bounds on what an origin states. The cap wins over the floor.
    func bounded(_ lifetime: Duration) -> Duration { min(max(lifetime, minFresh), maxFresh) }
}
