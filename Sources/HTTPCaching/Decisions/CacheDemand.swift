import Foundation

/// What a client wants of the cache.
public struct CacheDemand: Hashable, Sendable {
    /// What it wants before all else.
    public var mode: CacheMode
    /// Counted where the mode is `standard`, but for `onlyIfCached` and `noStore`, which always count.
    public var directives: RequestDirectives
    /// Whether it may make us ask the origin although we have a fresh answer.
    ///
    /// Without it `no-cache`, `max-age=0` and a `min-fresh` that not even a new response could satisfy are not
    /// obeyed, so that nobody can stampede an origin. Modes are: whoever takes them from strangers has to refuse those that
    /// ask the origin.
    public var mayForce: Bool

    /// Nothing in particular, unless said otherwise.
    public init(mode: CacheMode = .standard, directives: RequestDirectives = .none, mayForce: Bool = false) {
        self.mode = mode
        self.directives = directives
        self.mayForce = mayForce
    }

    /// Whether the origin must not be asked.
    public var isOnlyIfCached: Bool { mode == .onlyIfCached || directives.onlyIfCached }

    /// Whether what the origin answers may be kept.
    public var mayStore: Bool { mode != .noStore && !directives.noStore }
}

extension CacheDemand {
    /// Whether the client's directives turn down what is stored (RFC 9111 §5.2.1). What not even a new answer of such an
    /// age could satisfy is obeyed only for who may force.
    func refuses(_ stored: Freshness, now: Date) -> Bool {
        guard mode == .standard else { return false }
        if mayForce, directives.noCache || directives.maxAge == .zero { return true }
        if let oldest = obeyedMaxAge, mayForce || oldest > stored.initialAge, stored.age(at: now) > oldest {
            return true
        }
        guard let least = directives.minFresh, mayForce || least < stored.lifetime - stored.initialAge else {
            return false
        }
        return stored.remaining(at: now) < least
    }

    /// Whether the client takes what is stale by that much, whatever the origin says.
    func takesStale(by staleness: Duration) -> Bool {
        switch mode {
        case .forceCache, .onlyIfCached: true
        case .standard: directives.maxStale.map { staleness <= $0 } ?? false
        case .noStore, .reload, .noCache, .refresh: false
        }
    }

    /// Whether the client takes nothing stale, although the origin might allow it (RFC 9111 §5.2.1.1).
    var turnsDownStale: Bool { mode == .standard && obeyedMaxAge != nil && directives.maxStale == nil }

    private var obeyedMaxAge: Duration? {
        directives.maxAge.flatMap { mayForce || $0 >= .seconds(1) ? $0 : nil }
    }
}
