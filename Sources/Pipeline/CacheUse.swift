public import DarkroomHTTPCaching

/// How one request uses the caches: what it accepts of them, where it looks, and where its results are kept.
public struct CacheUse: Hashable, Sendable {
    /// How fresh an answer has to be, and whether the origin has to be asked (NSURLRequest's cache policies, the Fetch standard's
    /// modes, and the directives of RFC 9111 §5.2.1).
    public var demand: RequestCachePolicy
    /// Where entries are looked for (SDWebImage's `queryCacheType` and `originalQueryCacheType`).
    public var query: TierChoice
    /// Where results are kept (SDWebImage's `storeCacheType` and `originalStoreCacheType`).
    public var store: TierChoice
    /// Whether the answer waits until its entries are on disk (SDWebImage's `waitStoreCache`).
    public var waitsForDisk: Bool

    /// Everything as usual unless said otherwise: what is fresh is used, and all tiers are looked into and filled.
    public init(
        demand: RequestCachePolicy = RequestCachePolicy(), query: TierChoice = .all, store: TierChoice = .all,
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
    /// For the bytes that origins sent.
    public var originals: Tiers
    /// For what was made of them.
    public var variants: Tiers

    /// These tiers for originals, and those for variants.
    public init(originals: Tiers, variants: Tiers) {
        self.originals = originals
        self.variants = variants
    }

    /// Memory and disk, for both.
    public static let all = TierChoice(originals: .all, variants: .all)
    /// No tier at all.
    public static let none = TierChoice(originals: [], variants: [])
    /// Nothing on disk (SDWebImage's `cacheMemoryOnly`).
    public static let memory = TierChoice(originals: .memory, variants: .memory)
    /// Originals alone, in both tiers.
    public static let originals = TierChoice(originals: .all, variants: [])
    /// Variants alone, in both tiers.
    public static let variants = TierChoice(originals: [], variants: .all)

    /// The tiers that anything may be in.
    var any: Tiers { originals.union(variants) }
}

/// The two tiers of a cache.
public struct Tiers: OptionSet, Hashable, Sendable {
    /// One bit for each tier.
    public let rawValue: UInt8

    /// The tiers of these bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The tier that dies with the process.
    public static let memory = Tiers(rawValue: 1)
    /// The tier that outlives it.
    public static let disk = Tiers(rawValue: 2)
    /// Both.
    public static let all: Tiers = [.memory, .disk]
}
