public import DarkroomHTTPCaching
public import DarkroomTransforms
public import Foundation
public import HTTPTypes
public import NIOCore

/// A finished picture and how it came about.
public struct ImageResponse: Sendable {
    /// The encoded picture.
    public var body: ByteBuffer
    /// The format of `body`.
    public var format: OutputFormat
    /// SHA-256 of the body, 64 hexadecimal digits: a strong validator.
    public var digest: String
    /// When the origin says the source was last changed, where it said so.
    public var lastModified: Date?
    /// How long ago the origin vouched for the source's bytes (RFC 9111 §4.2.3).
    public var age: Duration
    /// How long the picture stays fresh; negative = for how long it has been stale. That of its original.
    public var remaining: Duration
    /// What clients are to be told about keeping the picture.
    public var cachePolicy: ClientCachePolicy
    /// Where the picture was found, or why not.
    public var cache: CacheReport
    /// How long each part of the work took.
    public var timings: Timings
    /// Why the fallback was used in place of the source; nil = it was not.
    public var fallbackReason: PipelineError?
    /// What the request's `placeholders` asked for; nil = nothing was, or it could not be told.
    public var placeholders: Placeholders?
    /// What the origin said about the source and about keeping it: of its fields those of `StoredResponse.storedFieldNames`.
    public var originFields = HTTPFields()

    /// A copy of `body` as Foundation knows bytes.
    public var data: Data { Data(body.readableBytesView) }
}

/// Which layer answered, and what the origin had to do with it.
public struct CacheReport: Hashable, Sendable {
    /// A place where an entry can be.
    public enum Layer: String, Sendable {
        case memory, disk
    }

    /// Where the finished variant was; nil = it had to be made.
    public var variant: Layer?
    /// Where the original was, when the variant had to be made; nil = it was downloaded.
    public var original: Layer?
    /// Why the origin was asked before this answer; nil = it was not.
    public var forwarded: CacheStatus.Reason?
    /// The status that the origin answered with, if it was asked.
    public var originStatus: Int?
    /// Whether what was made or downloaded is kept for later requests.
    public var isStored: Bool
    /// Whether another request's work was shared.
    public var isShared: Bool
    /// Why the origin could not confirm a stale picture that is answered all the same (RFC 5861 §4).
    public var staleBecause: PipelineError?

    /// A report of these facts.
    public init(
        variant: Layer? = nil, original: Layer? = nil, forwarded: CacheStatus.Reason? = nil, originStatus: Int? = nil,
        isStored: Bool = false, isShared: Bool = false, staleBecause: PipelineError? = nil
    ) {
        self.variant = variant
        self.original = original
        self.forwarded = forwarded
        self.originStatus = originStatus
        self.isStored = isStored
        self.isShared = isShared
        self.staleBecause = staleBecause
    }
}

/// How long each part took; nil = it was not needed.
public struct Timings: Hashable, Sendable {
    /// Asking the origin, or reading the original from a cache.
    public var fetch: Duration?
    /// Waiting for a pixel thread.
    public var queue: Duration?
    /// Decode, transform and encode.
    public var process: Duration?
    /// Hashing and handing over to the caches; the disk is written later.
    public var store: Duration?
    /// From the request to the finished picture.
    public var total: Duration

    /// Times of these parts.
    public init(
        fetch: Duration? = nil, queue: Duration? = nil, process: Duration? = nil, store: Duration? = nil,
        total: Duration = .zero
    ) {
        self.fetch = fetch
        self.queue = queue
        self.process = process
        self.store = store
        self.total = total
    }
}

/// In which tiers the entries of a request are.
public struct CacheLocation: Hashable, Sendable {
    /// Where the source's bytes are.
    public var original: TierSet
    /// Where the finished picture is.
    public var variant: TierSet

    /// Entries in these tiers.
    public init(original: TierSet = [], variant: TierSet = []) {
        self.original = original
        self.variant = variant
    }
}
