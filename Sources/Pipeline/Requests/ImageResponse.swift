public import DarkroomCache
public import DarkroomHTTPCaching
import DarkroomNetwork
public import DarkroomRequests
package import DarkroomStore
public import DarkroomTransforms
public import Foundation
public import HTTPTypes
public import NIOCore

/// An encoded image, with its caching metadata and a report of how it was obtained.
public struct ImageResponse: Sendable {
    /// The encoded image.
    public var body: ByteBuffer
    /// The format of ``body``.
    public var format: OutputFormat
    /// The size of the image, or of the image that a document describes.
    public var size: PixelSize
    /// The size of the original in bytes.
    public var sourceBytes: Int
    /// The SHA-256 of ``body`` in 64 hexadecimal digits: a strong validator.
    public var digest: String
    /// When the source was last modified, if the origin said so.
    public var lastModified: Date?
    /// The age of the original (RFC 9111 §4.2.3).
    public var age: Duration
    /// The remaining freshness lifetime of the original; negative once it is stale.
    public var remaining: Duration
    /// The caching policy to send to clients.
    public var cachePolicy: ClientCachePolicy
    /// Where the image was found, and why the origin was contacted.
    public var cache: CacheReport
    /// The time that each part of the work took.
    public var timings: Timings
    /// The failure of the source, if the fallback was used instead; else nil.
    public var fallbackReason: PipelineError?
    /// The failure of a drawn image that was left out or replaced, see ``PartImage``; nil if all are as requested.
    public var partFailure: PipelineError?
    /// Whether this is the ``ImageRequest/interim`` output, which the requested output will replace.
    public var isInterim = false
    /// Whether parts of the source could not be decoded, see ``DamagePolicy/show``. Such an image is not stored.
    public var isDamaged = false
    /// The placeholders that the request asked for; nil if it asked for none, or if they could not be computed.
    public var placeholders: Placeholders?
    /// The quality of the result if the request left it to the image; nil if not.
    public var quality: ResultQuality?
    /// What of an SVG is not drawn as browsers draw it.
    public var gaps = SVGGaps()
    /// The number of faces that were found for the image; nil = none were looked for. A crop to faces that found none
    /// shows the most salient part.
    public var faces: Int?
    /// The origin's response fields about the source and its caching: the fields in `StoredResponse.storedFieldNames`.
    public var originFields = HTTPFields()
    /// The image, if the request accepts that it stays on disk until it is sent; ``body`` is empty then.
    package var deferredBody: StoredBody?
    /// The source's record; nil in a response that does not come from a pipeline.
    package var record: SourceRecord?
    /// The records of the images that are drawn onto the image.
    package var partRecords: [SourceRecord] = []
    /// The sources that failed, if the image shows their fallbacks, or is without them.
    var failedSources: [SourceURL] = []
    /// The source's bytes, if the request keeps them.
    var original: Original?

    /// The failure for which the image differs from the requested one; nil if it does not.
    package var substitutionReason: PipelineError? { fallbackReason ?? partFailure }

    /// A copy of ``body`` as `Data`.
    public var data: Data { Data(body.readableBytesView) }
}

/// Which tier answered, and how the origin was involved.
public struct CacheReport: Hashable, Sendable {
    /// A tier in which an entry was found.
    public typealias Tier = CacheTier

    /// The tier that had the variant; nil if the variant was produced for this request.
    public var variant: Tier?
    /// The tier that had the original, if the variant was produced from a cached original; else nil.
    public var original: Tier?
    /// Why the request was forwarded to the origin before this answer (RFC 9211 §2.2); nil if it was not.
    public var forwarded: CacheStatus.Reason?
    /// The status of the origin's response, if there was one.
    public var originStatus: Int?
    /// Whether the variant was stored for later requests.
    public var isStored: Bool
    /// Whether the request shared another request's work.
    public var isShared: Bool
    /// Whether the variant was made from bytes that came with the request (``ImageRequest/data``).
    public var isUpload = false
    /// The failure that made a stale image acceptable (RFC 5861 §4); nil if the answer is not stale for that reason.
    public var staleBecause: PipelineError?

    public init(
        variant: Tier? = nil, original: Tier? = nil, forwarded: CacheStatus.Reason? = nil, originStatus: Int? = nil,
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

/// The time that each part of a request took; nil if the part was not needed.
public struct Timings: Hashable, Sendable {
    /// Fetching from the origin, or reading the original from a cache.
    public var fetch: Duration?
    /// Waiting for a pixel thread.
    public var queue: Duration?
    /// Decoding, transforming and encoding.
    public var process: Duration?
    /// Hashing the result and handing it to the caches. Disk writes happen later.
    public var store: Duration?
    /// The whole request.
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

/// The tiers that have a request's entries.
public struct CacheLocation: Hashable, Sendable {
    /// The tiers that have the source's bytes.
    public var original: TierSet
    /// The tiers that have the finished image.
    public var variant: TierSet

    public init(original: TierSet = [], variant: TierSet = []) {
        self.original = original
        self.variant = variant
    }
}

/// Small images and colors to show until an image has loaded. A property is nil if the request did not ask for it.
public struct Placeholders: Hashable, Sendable {
    /// The BlurHash of 4 by 3 components: 28 characters.
    public var blurHash: String?
    /// The ThumbHash in base64.
    public var thumbHash: String?
    /// The dominant color as `#rrggbb`.
    public var dominantColor: String?
    /// The low-quality image placeholder: the image at 16 pixels as a `data:` URI.
    public var lqip: String?
}

extension Placeholders: Decodable {
    private enum CodingKeys: String, CodingKey {
        case blurHash = "blurhash"
        case thumbHash = "thumbhash"
        case dominantColor = "dominant_color"
        case lqip
    }

    /// Decodes a JSON document as `output=json` encodes it; nil if the buffer holds anything else.
    init?(json document: ByteBuffer) {
        guard let decoded = try? JSONDecoder().decode(Self.self, from: Data(document.readableBytesView)) else {
            return nil
        }
        self = decoded
    }
}
