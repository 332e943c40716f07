package import DarkroomMachine
public import DarkroomNetwork

/// A request for one image: its source, the steps applied to the pixels, and the encoding of the result.
public struct ImageRequest: Sendable {
    /// The source, as it is downloaded. The pipeline's `CacheKeyFilter` decides which sources share cache entries.
    /// Setting it replaces ``data``.
    public var source: SourceURL { didSet { data = nil } }
    /// The bytes of the source, which is then not downloaded; nil = it is.
    public private(set) var data: SourceData?
    /// The steps applied to the pixels.
    public var recipe: Recipe
    /// The frames or pages that are kept.
    public var pages: PageSelection
    /// The output format and its encoder options.
    public var output: OutputOptions
    /// A quicker output to answer with while ``output`` is not cached and would take longer to encode than
    /// `PipelineConfiguration.encodingBudget`. ``output`` is then encoded in the background, and answers later
    /// requests; if it cannot be stored, it is not encoded. Default: none.
    public var interim: OutputOptions?
    /// The priority of the work. Work shared by several requests runs at the highest of their priorities.
    public var priority: Priority
    /// How the request uses the caches.
    public var cache: CacheOptions
    /// A source to use when ``source`` fails, under the same rules. Default: none.
    public var fallback: SourceURL?
    /// The failures that ``fallback`` is used for, by their status: 403, 404, 410, 413, 415, 422, 502, 503 or 504.
    /// Default: empty, which stands for all.
    public var fallbackStatuses: Set<Int> = []
    /// The images that are drawn onto the result: by ``Recipe/mark``, ``Recipe/steps`` and ``Recipe/layers``. Each is
    /// fetched and cached like a source.
    public var parts: [PartImage] = []
    /// Placeholders to return along with the image: any of `color`, `blurHash`, `thumbHash` and `lqip`. They change
    /// neither the image's bytes nor its cache key.
    public var placeholders: ImageDetails
    /// Whether the response may have `ImageResponse.deferredBody`.
    package var acceptsDeferredBody = false
    /// Texts that become part of the variant's key, in addition to the values that determine the image; nil = none.
    package var versions: [String?] = []
    /// The client that the work is for, such as an address or a key's name. When the pipeline is overloaded, clients
    /// get equal shares of its time. The empty string, which is the default, counts as one client.
    public var client = ""
    /// The account that work and cache entries are charged to; nil = none.
    package var account: (any WorkAccount)?

    /// Creates a request. By default it returns the source's pixels in the source's format.
    public init(
        source: SourceURL, recipe: Recipe = Recipe(), pages: PageSelection = PageSelection(),
        output: OutputOptions = OutputOptions(), priority: Priority = .normal, cache: CacheOptions = CacheOptions(),
        fallback: SourceURL? = nil, placeholders: ImageDetails = []
    ) {
        self.source = source
        self.recipe = recipe
        self.pages = pages
        self.output = output
        self.priority = priority
        self.cache = cache
        self.fallback = fallback
        self.placeholders = placeholders
    }

    /// Creates a request for an image that the caller holds. Its address is the hash of the bytes.
    ///
    /// - Parameter cache: by default nothing is read from the caches or stored in them. The bytes are never stored.
    public init(
        data: SourceData, recipe: Recipe = Recipe(), pages: PageSelection = PageSelection(),
        output: OutputOptions = OutputOptions(), priority: Priority = .normal,
        cache: CacheOptions = CacheOptions(store: .none), placeholders: ImageDetails = []
    ) {
        self.init(
            source: data.address, recipe: recipe, pages: pages, output: output, priority: priority, cache: cache,
            placeholders: placeholders)
        self.data = data
    }

    /// The image to draw at the place in ``Recipe/mark``: the part without a name. Nil = none.
    public var mark: SourceURL? {
        get { parts.first { $0.name.isEmpty }?.source }
        set {
            parts.removeAll { $0.name.isEmpty }
            if let newValue { parts.insert(PartImage("", newValue), at: 0) }
        }
    }

    /// Replaces the source by bytes that the caller holds.
    package mutating func setSource(_ data: SourceData) {
        source = data.address
        self.data = data
    }
}

/// An account of the work for the requests of one tenant.
package protocol WorkAccount: Sendable {
    /// The tenant's part of the caches; nil = entries are stored without counting.
    var share: (any AccountShare)? { get }

    /// Charges time on a pixel thread, also of work that failed. Work that requests share is charged to the first
    /// request.
    func charge(processing time: Duration)
}

/// The part of the caches that an account may take, as only the caches know it.
package protocol AccountShare: AnyObject, Sendable {}

/// The priority of work in the pixel queue and, with the same raw values, in the download queue.
public enum Priority: Int, Sendable, Comparable, CaseIterable {
    /// Work that no client waits for: background revalidation and prefetching.
    case background
    case low, normal, high

    public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
}

/// The bytes of a source that came with the request, instead of from an origin.
///
/// A class, because requests are copied often and few of them have bytes.
public final class SourceData: Sendable {
    package let content: SharedBytes
    /// The name of the source, made from the hash of its bytes: equal bytes are the same source.
    package let address: SourceURL
    /// Lives as long as the bytes, such as their count among the bytes in flight.
    package let hold: (any AnyObject & Sendable)?

    package init(_ content: SharedBytes, address: SourceURL, hold: (any AnyObject & Sendable)?) {
        self.content = content
        self.address = address
        self.hold = hold
    }

    /// The number of bytes.
    public var count: Int { content.count }
}

/// One image of a prefetch job.
public struct PrefetchItem: Sendable {
    /// The request for the image. Its priority and its fallback are ignored: prefetching is background work, and a
    /// fallback is not the image that was requested.
    public var request: ImageRequest
    /// The caller's label, which is returned with a failure. Default: empty.
    public var label: String

    /// The most images of a job.
    package static let maxPerJob = 10_000

    public init(_ request: ImageRequest, label: String = "") {
        self.request = request
        self.label = label
    }
}

/// The frames of an animation, or pages of a document, that are used.
public struct PageSelection: Hashable, Codable, Sendable {
    /// The first page used, counted from 1, or ``primary``, ``largest`` or ``smallest``.
    public var first: Int
    /// The number of frames or pages that are used; nil = all frames of an animation, one page of a document.
    public var count: Int?
    /// Whether the frames of an animation are chosen evenly from all frames after the first, so that its duration
    /// stays. Otherwise the first `count` of them are used.
    public var isThinned = false
    /// Whether the last frame or page is used if there are fewer than ``first``. Otherwise that is an error.
    public var mayBeFewer = false

    /// In place of a number: the primary image of a HEIC or AVIF file, and the first page of other formats.
    public static let primary = 0
    /// In place of a number: the first page or icon image with the most pixels.
    public static let largest = -1
    /// In place of a number: the first page or icon image with the fewest pixels.
    public static let smallest = -2

    /// All of an animation, or the primary page of a document by default.
    public init(
        first: Int = PageSelection.primary, count: Int? = nil, isThinned: Bool = false, mayBeFewer: Bool = false
    ) {
        self.first = first
        self.count = count
        self.isThinned = isThinned && count ?? 1 > 1
        self.mayBeFewer = mayBeFewer && first > 0
    }
}

/// The limits on source and result. All are checked against the header before a pixel is decoded.
public struct PixelLimits: Hashable, Codable, Sendable {
    /// Pixels of one frame of the source; 60 million by default.
    public var maxSourcePixels: Int
    /// Pixels of all frames used, together; 120 million by default.
    public var maxAnimationPixels: Int
    /// Frames of an animation; by default, their number alone refuses nothing.
    public var maxFrames: Int
    /// Pixels of the result's longer side; 8192 by default.
    public var maxOutputSide: Int
    /// Pixels of the result; 50 million by default.
    public var maxOutputPixels: Int
    /// The expected processor time of the work on one image in milliseconds (``ImagePlan/expectedWork``); 4,000 by
    /// default.
    public var maxProcessingMilliseconds: Int

    /// More frames than the other limits allow.
    public static let unlimitedFrames = 100_000

    /// Limits with these defaults.
    public init(
        maxSourcePixels: Int = 60_000_000, maxAnimationPixels: Int = 120_000_000,
        maxFrames: Int = PixelLimits.unlimitedFrames,
        maxOutputSide: Int = 8192, maxOutputPixels: Int = 50_000_000, maxProcessingMilliseconds: Int = 4000
    ) {
        self.maxSourcePixels = maxSourcePixels
        self.maxAnimationPixels = maxAnimationPixels
        self.maxFrames = maxFrames
        self.maxOutputSide = maxOutputSide
        self.maxOutputPixels = maxOutputPixels
        self.maxProcessingMilliseconds = maxProcessingMilliseconds
    }
}

/// An image that a request draws onto its result, in addition to its source.
public struct PartImage: Hashable, Sendable {
    /// The name of the ``Layer`` or the ``Mark/image`` that draws it; empty = it is drawn by ``Recipe/mark``.
    public var name: String
    public var source: SourceURL
    /// Drawn instead if ``source`` fails, under the same rules. Default: none.
    public var fallback: SourceURL?
    /// Whether the result is made without the image if it fails; otherwise the request fails. Default: false.
    public var mayBeLeftOut = false
    /// Whether this server's operator chose ``source``, rather than the client.
    package var isTrusted = false
    /// Whether this server's operator chose ``fallback``.
    package var isFallbackTrusted = false

    /// The most different sources of the named images of a request, fallbacks included.
    package static let maxSources = 8

    public init(_ name: String, _ source: SourceURL, fallback: SourceURL? = nil, mayBeLeftOut: Bool = false) {
        self.name = name
        self.source = source
        self.fallback = fallback
        self.mayBeLeftOut = mayBeLeftOut
    }

    /// The parameter that gives the image of a part.
    package static func parameter(of name: String) -> String { name.isEmpty ? "mark" : "mark.\(name)" }

    /// The parameter that gives the image.
    package var parameter: String { Self.parameter(of: name) }

    /// All sources of the part.
    package var sources: [SourceURL] { [source, fallback].compactMap(\.self) }

    /// The image that is drawn if ``source`` fails; nil = none.
    package var replacement: PartImage? {
        guard let fallback else { return nil }
        var part = self
        (part.source, part.isTrusted) = (fallback, isFallbackTrusted)
        part.fallback = nil
        return part
    }

    /// The image and its fallback, as far as the client chose them.
    package var foreignSources: [(parameter: String, source: SourceURL)] {
        let own = isTrusted ? [] : [(parameter, source)]
        return own + (isFallbackTrusted ? [] : fallback.map { [("\(parameter).default", $0)] } ?? [])
    }
}
