public import DarkroomHTTPCaching
public import DarkroomTransforms

/// What a pipeline would do about a request at this moment, and why.
public struct Explanation: Sendable {
    /// The canonical address of the source.
    public var source: String
    /// The same of the request's fallback.
    public var fallback: String?
    /// The names of the request's work and entries.
    public var keys: Keys
    /// The request's three entries, each with the tiers that have it as it could be used.
    public var caches: [CachedEntry]
    public var freshness: Verdict
    /// The format of the answer; nil = the source decides, and is not known.
    public var format: OutputFormat?
    /// How the picture is made, or would be made if it were not in a cache.
    public var plan: PlanOutcome
    /// What the plan takes of the limits that play a part.
    public var limits: [LimitUsage]

    /// Keys are SHA-256 in 64 hexadecimal digits.
    public struct Keys: Hashable, Sendable {
        /// The type of the `CacheKeyFilter`.
        public var filter: String
        /// What the filter calls the source.
        public var identity: String
        public var source: String
        public var original: String
        /// Of what is known about the source.
        public var record: String
        public var variant: String
        /// Names the encoders; part of the variant's key.
        public var encoderEpoch: String
    }

    /// Whether what is stored may be used.
    public struct Verdict: Hashable, Sendable {
        public var evaluation: CacheEvaluation
        /// For how long the source is fresh, counted from the origin's making of it; nil here and below = it is not known.
        public var lifetime: Duration?
        public var age: Duration?
        /// Negative = for how long it has been stale.
        public var remaining: Duration?
    }

    public enum PlanOutcome: Hashable, Sendable {
        case planned(ImagePlan)
        /// The source's bytes are not at hand: one sentence for people.
        case missing(String)
    }
}

/// An entry of the caches.
public struct CachedEntry: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// What is known about a source.
        case record
        /// A source's bytes.
        case original
        /// A finished picture.
        case variant
    }

    public var kind: Kind
    /// SHA-256, 64 hexadecimal digits.
    public var key: String
    /// The tiers that have it.
    public var tiers: TierSet = []
    /// What it takes there, in the lower tier that has it; nil = it is nowhere.
    public var bytes: Int?
    /// Since it was stored, in the lower tier that has it; nil = that is not known.
    public var age: Duration?
    /// How often it was found in memory since it came there; nil = it is not there.
    public var hits: Int?
    /// Of a variant, where that is known.
    public var format: OutputFormat?
}
