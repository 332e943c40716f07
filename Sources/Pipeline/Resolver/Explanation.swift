public import DarkroomCache
public import DarkroomHTTPCaching
public import DarkroomRequests
public import DarkroomTransforms

/// How a pipeline would answer a request at this moment, and why.
public struct Explanation: Sendable {
    /// The canonical address of the source.
    public var source: String
    /// The canonical address of the request's fallback.
    public var fallback: String?
    /// The keys of the request's work and cache entries.
    public var keys: Keys
    /// The request's record, original and variant, with the tiers that have a usable entry.
    public var caches: [CachedEntry]
    /// The evaluation of the cached record.
    public var freshness: Verdict
    /// The output format; nil if it depends on a source that is not available.
    public var format: OutputFormat?
    /// The preferred format, if the cached image has ``format`` instead because that keeps a drawing exact or takes no
    /// more bytes; else nil.
    public var outdoneFormat: OutputFormat?
    /// The preferred format that the request is not answered in yet; nil if it is answered in its own.
    public var upgrade: Upgrade?
    /// How the variant is produced, or would be produced if it were not cached.
    public var plan: PlanOutcome
    /// The known state of the images that the request draws, in its order.
    public var parts: [Part] = []
    /// The plan's use of each limit that applies to it.
    public var limits: [LimitUsage]
    /// The tags by which caches in front of the server purge the response, as far as they are known.
    package var tags = EdgeTags()
    /// The decision that a request would act on.
    var decision: Resolution.Decision?

    /// The keys of a request: SHA-256 in 64 hexadecimal digits.
    public struct Keys: Encodable, Hashable, Sendable {
        /// The type of the ``CacheKeyFilter``.
        public var filter: String
        /// The source's identity, as the filter returns it.
        public var identity: String
        public var source: String
        /// The key of the source's bytes.
        public var original: String
        /// The key of the source's record.
        public var record: String
        /// The key of the finished image.
        public var variant: String
        /// The encoders' version, which is part of the variant key.
        public var encoderEpoch: String
    }

    /// An image that is drawn onto the source.
    public struct Part: Hashable, Sendable {
        /// See ``PartImage/name``.
        public var name: String
        /// The canonical address.
        public var source: String
        /// The SHA-256 of the content in 64 hexadecimal digits; nil if nothing is cached. The variant key is then
        /// unknown too.
        public var contentDigest: String?
        /// The remaining freshness lifetime; negative once the image is stale.
        public var remaining: Duration?
    }

    /// Whether the cached record may be used. Durations are nil without a record.
    public struct Verdict: Hashable, Sendable {
        /// The evaluation by RFC 9111, and its reason.
        public var evaluation: CacheEvaluation
        /// The freshness lifetime (RFC 9111 §4.2.1).
        public var lifetime: Duration?
        /// The age (RFC 9111 §4.2.3).
        public var age: Duration?
        /// The remaining freshness lifetime; negative once the record is stale.
        public var remaining: Duration?
    }

    /// The format that replaces the format of an interim answer.
    public struct Upgrade: Hashable, Sendable {
        /// The preferred format.
        public var format: OutputFormat
        /// Whether the image is being encoded in it.
        public var isUnderWay: Bool
        /// The estimated time of encoding it; nil if the size of the image is unknown.
        public var encodingTime: Duration?
    }

    /// The plan of the request, if the source's bytes are available.
    public enum PlanOutcome: Hashable, Sendable {
        case planned(ImagePlan)
        /// The reason for the missing plan: one sentence.
        case missing(String)
    }
}
