import DarkroomNetwork
import Foundation
public import HTTPTypes

/// The permissions and requirements of a request about the cache.
public struct RequestCachePolicy: Hashable, Sendable {
    /// The cache mode, which takes precedence over the directives. Default: ``CacheMode/default``.
    public var mode: CacheMode
    /// The request's directives. They apply in mode ``CacheMode/default``; `only-if-cached` and `no-store` apply in
    /// every mode.
    public var directives: RequestDirectives
    /// Whether the directives may force an origin request although a stored response is fresh. Default: false.
    ///
    /// Without it `no-cache`, `max-age=0` and a `min-fresh` that even a new response could not satisfy are ignored, so
    /// that clients cannot stampede an origin. Modes are always obeyed: check ``CacheMode/forcesOriginRequest`` before
    /// accepting one from an untrusted client.
    public var allowsForcedRefresh: Bool

    /// A policy that requires nothing unless parameters say otherwise.
    public init(
        mode: CacheMode = .default, directives: RequestDirectives = RequestDirectives(),
        allowsForcedRefresh: Bool = false
    ) {
        self.mode = mode
        self.directives = directives
        self.allowsForcedRefresh = allowsForcedRefresh
    }

    /// Whether the origin must not be contacted.
    public var isOnlyIfCached: Bool { mode == .onlyIfCached || directives.onlyIfCached }

    /// Whether the origin's response may be stored.
    public var allowsStoring: Bool { mode != .noStore && !directives.noStore }

    /// Whether the directives reject the stored response (RFC 9111 §5.2.1). Directives that even a new response of the
    /// same initial age could not satisfy count only with ``allowsForcedRefresh``.
    func rejects(_ stored: Freshness, now: Date) -> Bool {
        guard mode == .default else { return false }
        if allowsForcedRefresh, directives.noCache || directives.maxAge == .zero { return true }
        if let maxAge = effectiveMaxAge, allowsForcedRefresh || maxAge > stored.initialAge,
            stored.age(at: now) > maxAge
        {
            return true
        }
        guard let minFresh = directives.minFresh, allowsForcedRefresh || minFresh < stored.lifetime - stored.initialAge
        else { return false }
        return stored.remaining(at: now) < minFresh
    }

    /// Whether the client accepts a response that has been stale for this long, whatever the origin says.
    func acceptsStale(by staleness: Duration) -> Bool {
        switch mode {
        case .forceCache, .onlyIfCached: true
        case .default: directives.maxStale.map { staleness <= $0 } ?? false
        case .noStore, .reload, .noCache, .refresh: false
        }
    }

    /// Whether the client rejects every stale response, even if the origin allows it (RFC 9111 §5.2.1.1).
    var rejectsStale: Bool { mode == .default && effectiveMaxAge != nil && directives.maxStale == nil }

    private var effectiveMaxAge: Duration? {
        directives.maxAge.flatMap { allowsForcedRefresh || $0 >= .seconds(1) ? $0 : nil }
    }
}

/// How a request uses the cache: the cache modes of the Fetch standard, and ``refresh``.
public enum CacheMode: String, CaseIterable, Hashable, Sendable {
    /// Serves fresh responses and revalidates stale ones, as HTTP defines.
    case `default`
    /// Bypasses the cache and stores nothing.
    case noStore = "no-store"
    /// Bypasses the cache and replaces its entry.
    case reload
    /// Revalidates the stored response before it is used.
    case noCache = "no-cache"
    /// Serves the stored response even if it is stale, and contacts the origin only without a stored response.
    case forceCache = "force-cache"
    /// Serves the stored response even if it is stale, and never contacts the origin.
    case onlyIfCached = "only-if-cached"
    /// Serves the stored response even if it is stale, and revalidates it in the background.
    case refresh

    /// Whether the mode causes an origin request although a stored response is fresh.
    public var forcesOriginRequest: Bool {
        switch self {
        case .noStore, .reload, .noCache, .refresh: true
        case .default, .forceCache, .onlyIfCached: false
        }
    }

    /// Whether the request to the origin has no conditions, as if nothing were stored.
    public var ignoresStored: Bool { self == .noStore || self == .reload }
}

/// The cache directives of a request (RFC 9111 §5.2.1).
public struct RequestDirectives: Hashable, Sendable {
    /// `no-cache`: a stored response must be validated before it is used.
    public var noCache = false
    /// `no-store`: the response must not be stored.
    public var noStore = false
    /// `only-if-cached`: the origin must not be contacted.
    public var onlyIfCached = false
    /// `max-age`: the greatest age that the client accepts. Without `maxStale` it rejects stale responses too.
    public var maxAge: Duration?
    /// `min-fresh`: how long from now the response must stay fresh.
    public var minFresh: Duration?
    /// `max-stale`: how long the response may have been stale; ``unlimited`` if the client gives no value.
    public var maxStale: Duration?

    /// 2³¹ seconds, which is 68 years (RFC 9111 §1.2.2).
    public static let unlimited = DeltaSeconds.max

    public init() {}

    /// Reads a request's `Cache-Control`, or its `Pragma` if `Cache-Control` is missing (RFC 9111 §5.4). Malformed
    /// numbers are ignored. The first of several values of one directive counts.
    public init(_ fields: HTTPFields) {
        if let text = fields[.cacheControl] {
            for directive in DirectiveList(text) { apply(directive) }
        } else if let text = fields[.pragma] {
            noCache = DirectiveList(text).contains { $0.name == "no-cache" }
        }
    }

    private mutating func apply(_ directive: Directive) {
        switch directive.name {
        case "no-cache": noCache = true
        case "no-store": noStore = true
        case "only-if-cached": onlyIfCached = true
        case "max-age": maxAge = maxAge ?? directive.seconds
        case "min-fresh": minFresh = minFresh ?? directive.seconds
        case "max-stale":
            maxStale = maxStale ?? (directive.isFlag ? Self.unlimited : directive.seconds)
        default: break
        }
    }
}
