public import Foundation
public import NIOCore
public import Transforms

/// A finished picture and how it came about.
public struct ImageResponse: Sendable {
    /// The encoded picture.
    public var body: ByteBuffer
    public var format: OutputFormat
    /// SHA-256 of the body, 64 hexadecimal digits: a strong validator.
    public var digest: String
    /// When the origin says the source was last changed, where it said so.
    public var lastModified: Date?
    /// When the source's bytes arrived here.
    public var fetchedAt: Date
    /// Where the picture was found.
    public var cache: CacheReport
    public var timings: Timings
}

/// Which layer answered.
public struct CacheReport: Hashable, Sendable {
    /// A place where an entry can be.
    public enum Layer: String, Sendable {
        case memory, disk
    }

    /// Where the finished variant was; nil = it had to be made.
    public var variant: Layer?
    /// Where the original was, when the variant had to be made; nil = it was downloaded.
    public var original: Layer?
    /// Whether another request's work was shared.
    public var isShared: Bool

    public init(variant: Layer? = nil, original: Layer? = nil, isShared: Bool = false) {
        self.variant = variant
        self.original = original
        self.isShared = isShared
    }
}

/// How long each part took; nil = it was not needed.
public struct Timings: Hashable, Sendable {
    /// Download of the original, or reading it from a cache.
    public var fetch: Duration?
    /// Waiting for a pixel thread.
    public var queue: Duration?
    /// Decode, transform and encode.
    public var process: Duration?
    /// Hashing and handing over to the caches; the disk is written later.
    public var store: Duration?
    /// From the request to the finished picture.
    public var total: Duration

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
