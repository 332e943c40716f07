public import HTTPCaching

/// How one request uses the caches: what it accepts of them, where it looks, and where its results are kept.
public struct CacheUse: Hashable, Sendable {
    /// How fresh an answer has to be, and whether the origin has to be asked (NSURLRequest's cache policies, the Fetch standard's
    /// modes, and the directives of RFC 9111 §5.2.1).
    public var demand: CacheDemand
    /// Where entries are looked for (SDWebImage's `queryCacheType` and `originalQueryCacheType`).
    public var query: TierChoice
    /// Where results are kept (SDWebImage's `storeCacheType` and `originalStoreCacheType`).
    public var store: TierChoice
    /// Whether the answer waits until its entries are on disk (SDWebImage's `waitStoreCache`).
    public var waitsForDisk: Bool

    public init(
        demand: CacheDemand = CacheDemand(), query: TierChoice = .all, store: TierChoice = .all,
        waitsForDisk: Bool = false
    ) {
        self.demand = demand
        self.query = query
        self.store = store
        self.waitsForDisk = waitsForDisk
    }
}

/// Some of the tiers, for originals and for variants apart.
public struct TierChoice: Hashable, Sendable {
    public var originals: Tiers
    public var variants: Tiers

    public init(originals: Tiers, variants: Tiers) {
        self.originals = originals
        self.variants = variants
    }

    public static let all = TierChoice(originals: .all, variants: .all)
    public static let none = TierChoice(originals: [], variants: [])
    /// Nothing on disk (SDWebImage's `cacheMemoryOnly`).
    public static let memory = TierChoice(originals: .memory, variants: .memory)
    public static let originals = TierChoice(originals: .all, variants: [])
    public static let variants = TierChoice(originals: [], variants: .all)

    /// The tiers that anything may be in.
    var any: Tiers { originals.union(variants) }
}

/// The two tiers of a cache.
public struct Tiers: OptionSet, Hashable, Sendable {
    public let rawValue: UInt8

    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    public static let memory = Tiers(rawValue: 1)
    public static let disk = Tiers(rawValue: 2)
    public static let all: Tiers = [.memory, .disk]
}
