/// How a request deals with the cache: the Fetch standard's words for a request's cache mode, and one of ours.
public enum CacheMode: String, CaseIterable, Hashable, Sendable {
    /// As HTTP has it.
    case standard = "default"
    /// Past the cache, and nothing is kept.
    case noStore = "no-store"
    /// Past the cache, whose entry is replaced.
    case reload
    /// The origin is asked whether the cache's entry is still right.
    case noCache = "no-cache"
    /// The cache's entry, though stale, or else the origin.
    case forceCache = "force-cache"
    /// The cache's entry, though stale, or else nothing.
    case onlyIfCached = "only-if-cached"
    /// The cache's entry, though stale, which is revalidated behind the answer.
    case refresh

    /// Whether it makes us ask the origin although there is a fresh answer.
    public var asksOrigin: Bool {
        switch self {
        case .noStore, .reload, .noCache, .refresh: true
        case .standard, .forceCache, .onlyIfCached: false
        }
    }

    /// Whether the origin is to be asked as if nothing were stored: without conditions.
    public var ignoresStored: Bool { self == .noStore || self == .reload }
}
