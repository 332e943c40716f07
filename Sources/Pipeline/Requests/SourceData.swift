import DarkroomHTTPCaching
package import DarkroomMachine
import DarkroomNetwork
package import DarkroomOrigin
public import DarkroomRequests
import DarkroomStore
public import Foundation
import HTTPTypes
public import NIOCore

extension SourceData {
    /// Bytes that the caller holds.
    public convenience init(_ bytes: ByteBuffer) {
        self.init(SharedBytes(bytes))
    }

    /// Bytes that the caller holds.
    public convenience init(_ bytes: Data) {
        self.init(ByteBuffer(bytes: bytes))
    }

    /// - Parameter reservation: counts the bytes as in flight; nil = they are not counted.
    package convenience init(_ content: SharedBytes, reservation: ByteReservation? = nil) {
        self.init(content, address: SourceURL(uploadOf: StoreKey(of: content).hex), hold: reservation)
    }

    /// The purge tag of everything that is stored of such sources.
    package static let purgeTag = "upload"

    /// The bytes as the response of an origin. Variants of equal bytes never become outdated.
    func response(at now: Date) -> OriginResponse {
        let fields: HTTPFields = [
            .cacheControl: "public, max-age=31536000, immutable", .known("Cache-Tag"): Self.purgeTag,
        ]
        var response = OriginResponse(
            url: address, status: .ok, headers: fields, body: ByteBuffer(), requestedAt: now, receivedAt: now)
        response.content = content
        response.reservation = hold as? ByteReservation
        return response
    }
}

extension CacheOptions {
    /// The options of a request with ``SourceData``: the bytes are not stored, and entries that could not have been
    /// stored are not looked up.
    var ofData: CacheOptions {
        var options = self
        options.store.originals = []
        if options.store.variants.isEmpty { options.query = .none }
        return options
    }

    /// The options for the other sources of such a request, which are downloaded and cached as usual.
    var besideData: CacheOptions {
        var options = self
        if policy.allowsStoring { (options.query, options.store) = (.all, .all) }
        return options
    }
}

extension CacheReport {
    /// The report of a variant that was made from ``SourceData``, without an origin.
    func ofData(_ options: CacheOptions) -> CacheReport {
        guard variant == nil else { return self }
        var report = self
        report.isUpload = true
        report.forwarded = options.store.variants.isEmpty ? .bypass : .miss
        report.originStatus = nil
        return report
    }
}

extension ImageRequest {
    /// Creates a request from an address as text.
    ///
    /// - Throws: ``PipelineError/invalidURL(_:)`` with a sentence that says what is wrong with the address.
    public init(
        url: String, recipe: Recipe = Recipe(), pages: PageSelection = PageSelection(),
        output: OutputOptions = OutputOptions(), priority: Priority = .normal, cache: CacheOptions = CacheOptions(),
        fallback: String? = nil, placeholders: ImageDetails = []
    ) throws(PipelineError) {
        self.init(
            source: try Self.source(url), recipe: recipe, pages: pages, output: output, priority: priority,
            cache: cache, placeholders: placeholders)
        if let fallback { self.fallback = try Self.source(fallback) }
    }

    /// Creates a request that scales an image into a box without enlarging it. Set ``recipe`` for anything else.
    ///
    /// - Parameters:
    ///   - width: the box's width in pixels, 1 or more; nil derives it from the height.
    ///   - height: the box's height in pixels, 1 or more; nil derives it from the width.
    ///   - fit: how the image fills the box when both sides are given.
    ///   - output: the format and its encoder options. Default: the source's format.
    /// - Throws: ``PipelineError/invalidURL(_:)`` with a sentence that says what is wrong with the address.
    public init(
        url: String, width: Int?, height: Int? = nil, fit: Fit = .inside, output: OutputOptions = OutputOptions()
    ) throws(PipelineError) {
        var recipe = Recipe()
        recipe.box = Box(width: width, height: height)
        recipe.fit = fit
        self.init(source: try Self.source(url), recipe: recipe, output: output)
    }

    private static func source(_ url: String) throws(PipelineError) -> SourceURL {
        do { return try SourceURL(parsing: url) } catch { throw .invalidURL(error.description) }
    }
}
