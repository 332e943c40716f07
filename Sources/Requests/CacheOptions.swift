public import DarkroomHTTPCaching

/// How one request uses the caches: how fresh an answer it accepts, which tiers it reads and which it writes.
public struct CacheOptions: Hashable, Sendable {
    /// The freshness that the client accepts, and whether the origin must or must not be contacted (`NSURLRequest`'s
    /// cache policies, the Fetch standard's cache modes, and the request directives of RFC 9111 §5.2.1).
    public var policy: RequestCachePolicy
    /// The tiers that are read (SDWebImage's `queryCacheType` and `originalQueryCacheType`).
    public var query: TierSelection
    /// The tiers that are written (SDWebImage's `storeCacheType` and `originalStoreCacheType`).
    public var store: TierSelection
    /// Whether the answer waits until its entries are on disk (SDWebImage's `waitStoreCache`). Default: false.
    public var waitsForDisk: Bool

    /// Creates options. By default fresh entries are used, and all tiers are read and written.
    public init(
        policy: RequestCachePolicy = RequestCachePolicy(), query: TierSelection = .all, store: TierSelection = .all,
        waitsForDisk: Bool = false
    ) {
        self.policy = policy
        self.query = query
        self.store = store
        self.waitsForDisk = waitsForDisk
    }
}

/// The tiers to use for originals, and the tiers to use for variants.
public struct TierSelection: Hashable, Sendable {
    /// The tiers for the bytes that origins sent.
    public var originals: TierSet
    public var variants: TierSet

    public init(originals: TierSet, variants: TierSet) {
        self.originals = originals
        self.variants = variants
    }

    public static let all = TierSelection(originals: .all, variants: .all)
    public static let none = TierSelection(originals: [], variants: [])
    /// Memory for originals and variants (SDWebImage's `cacheMemoryOnly`).
    public static let memory = TierSelection(originals: .memory, variants: .memory)
    /// All tiers for originals, none for variants.
    public static let originals = TierSelection(originals: .all, variants: [])
    /// All tiers for variants, none for originals.
    public static let variants = TierSelection(originals: [], variants: .all)

    package var union: TierSet { originals.union(variants) }
}

/// A set of cache tiers.
public struct TierSet: OptionSet, Hashable, Sendable {
    /// One bit per tier.
    public let rawValue: UInt8

    /// Creates a set from its bits.
    public init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The tier in this process's memory.
    public static let memory = TierSet(rawValue: 1)
    /// The tier on this machine's disk.
    public static let disk = TierSet(rawValue: 2)
    /// The tier that several servers share.
    public static let shared = TierSet(rawValue: 4)
    public static let all: TierSet = [.memory, .disk, .shared]
}
