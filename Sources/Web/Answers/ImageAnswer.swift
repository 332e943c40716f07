import DarkroomHTTPCaching
import DarkroomPipeline
import DarkroomQuery
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The answer that carries a picture, or 304 where the client has it.
struct ImageAnswer {
    let picture: ImageResponse
    let query: ImageQuery
    let authorization: Authorization
    let configuration: WebConfiguration
    /// What the answer tells besides; it is true of this moment, so that nobody is to keep it.
    var caching: CachingDocument?

    /// The content's hash: same tag, same bytes. 128 bits of it are plenty.
    var tag: EntityTag { EntityTag(String(picture.digest.prefix(32))) }

    func response(to request: Request) -> Response {
        if isKnown(to: request) {
            var response = Response(status: .notModified, headers: fields)
            // The length would be that of the picture, not of this empty answer (RFC 9110 §8.6).
            response.headers[.contentLength] = nil
            return response
        }
        var fields = fields
        fields[.contentType] = picture.format.mediaType
        fields[.contentDisposition] = query.fileName.map { "inline; filename=\"\($0)\"" } ?? "inline"
        let body = caching?.added(to: picture.body) ?? picture.body
        return Response(status: status, headers: fields, body: ResponseBody(byteBuffer: body))
    }

    /// Preconditions mean something only where the answer would be a success (RFC 9110 §13.2.1).
    private func isKnown(to request: Request) -> Bool {
        guard status.kind == .successful, caching == nil else { return false }
        return Preconditions.evaluate(
            method: request.method, fields: request.headers, tag: tag, lastModified: lastModified) == .notModified
    }

    private var isFallback: Bool { picture.fallbackReason != nil }

    private var status: HTTPResponse.Status {
        isFallback ? HTTPResponse.Status(code: configuration.fallbackStatus) : .ok
    }

    /// That of a fallback is left out: the source itself, once it is back, may well be older.
    private var lastModified: Date? { isFallback || caching != nil ? nil : picture.lastModified }

    /// What a 304 carries too (RFC 9110 §15.4.5), and what makes tricks with the content inert.
    private var fields: HTTPFields {
        var fields = Self.protection
        fields[.eTag] = caching == nil ? tag.description : nil
        fields[.cacheControl] = cacheControl
        // RFC 9111 §1.2.2: no more than 2³¹.
        fields[.age] = String(min(max(0, picture.age.components.seconds), 1 << 31))
        if let lastModified { fields[.lastModified] = HTTPDate(lastModified).description }
        if query.isNegotiated { fields[.vary] = "Accept" }
        fields[.cacheStatus] = picture.cache.status(remaining: picture.remaining).description
        fields[.proxyStatus] = (picture.fallbackReason ?? picture.cache.staleBecause)?.proxyStatus?.description
        fields[.serverTiming] = picture.timings.serverTiming
        fields[.placeholderBlurHash] = picture.placeholders?.blurHash
        fields[.placeholderThumbHash] = picture.placeholders?.thumbHash
        fields[.placeholderColor] = picture.placeholders?.dominantColor
        fields[.placeholderLqip] = picture.placeholders?.lqip
        return fields
    }

    private static let protection: HTTPFields = [
        .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; sandbox",
        .crossOriginResourcePolicy: "cross-origin",
    ]

    /// Whether placeholders were wanted that could not be told.
    private var isIncomplete: Bool { !query.placeholders.isEmpty && picture.placeholders == nil }

    private var cacheControl: String {
        // The next answer may have them.
        guard !isIncomplete, caching == nil else { return CacheControl.noStore.description }
        let control = picture.cachePolicy.cacheControl(
            age: picture.age, asked: query.maxAge, mayExtend: configuration.allowLongerMaxAge, cap: cap)
        return authorization.restricting(control).description
    }

    private var cap: Duration {
        var cap = configuration.variantMaxAge
        if isFallback { cap = min(cap, Self.fallbackMaxAge) }
        if let remaining = authorization.remaining(at: configuration.now()) { cap = min(cap, remaining) }
        return cap
    }

    /// The source of a fallback may be back soon.
    private static let fallbackMaxAge = Duration.seconds(60)
}
