public import DarkroomHTTPCaching

/// How one request uses the caches: what it accepts of them, where it looks, and where its results are kept.
public struct CacheOptions: Hashable, Sendable {
    /// How fresh an answer has to be, and whether the origin has to be asked (NSURLRequest's cache policies, the Fetch standard's
    /// modes, and the directives of RFC 9111 §5.2.1).
    public var demand: RequestCachePolicy
    /// Where entries are looked for (SDWebImage's `queryCacheType` and `originalQueryCacheType`).
    public var query: TierSelection
    /// Where results are kept (SDWebImage's `storeCacheType` and `originalStoreCacheType`).
    public var store: TierSelection
    /// Whether the answer waits until its entries are on disk (SDWebImage's `waitStoreCache`).
    public var waitsForDisk: Bool

    /// Everything as usual unless said otherwise: what is fresh is used, and all tiers are looked into and filled.
    public init(
        demand: RequestCachePolicy = RequestCachePolicy(), query: TierSelection = .all, store: TierSelection = .all,
        waitsForDisk: Bool = false
    ) {
        self.demand = demand
        self.query = query
        self.store = store
        self.waitsForDisk = waitsForDisk
    }
}

/// Some of the tiers, for originals and for variants apart.
public struct TierSelection: Hashable, Sendable {
    /// For the bytes that origins sent.
    public var originals: TierSet
    /// For what was made of them.
    public var variants: TierSet

    /// These tiers for originals, and those for variants.
    public init(originals: TierSet, variants: TierSet) {
        self.originals = originals
        self.variants = variants
    }

    /// Memory and disk, for both.
    public static let all = TierSelection(originals: .all, variants: .all)
    /// No tier at all.
    public static let none = TierSelection(originals: [], variants: [])
    /// Nothing on disk (SDWebImage's `cacheMemoryOnly`).
    public static let memory = TierSelection(originals: .memory, variants: .memory)
    /// Originals alone, in both tiers.
    public static let originals = TierSelection(originals: .all, variants: [])
    /// Variants alone, in both tiers.
    public static let variants = TierSelection(originals: [], variants: .all)

    /// The tiers that anything may be in.
    var any: TierSet { originals.union(variants) }
}

/// The two tiers of a cache.
public struct TierSet: OptionSet, Hashable, Sendable {
    /// One bit for each tier.
    public let rawValue: UInt8

    /// The tiers of these bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The tier that dies with the process.
    public static let memory = TierSet(rawValue: 1)
    /// The tier that outlives it.
    public static let disk = TierSet(rawValue: 2)
    /// Both.
    public static let all: TierSet = [.memory, .disk]
}
