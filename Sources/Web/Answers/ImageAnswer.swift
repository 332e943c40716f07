import Foundation
import HTTPCaching
import HTTPTypes
import Hummingbird
import NIOCore
import Pipeline
import Transforms

/// The answer that carries a picture, or 304 where the client has it.
struct ImageAnswer {
    let picture: ImageResponse
    let query: ImageQuery
    /// The server's own freshness for clients.
    let variantMaxAge: Duration
    let now: Date

    /// The content's hash: same tag, same bytes. 128 bits of it are plenty.
    var tag: EntityTag { EntityTag(String(picture.digest.prefix(32))) }

    func response(to request: Request) -> Response {
        let outcome = Preconditions.evaluate(
            method: request.method, fields: request.headers, tag: tag, lastModified: picture.lastModified)
        switch outcome {
        case .notModified:
            var response = Response(status: .notModified, headers: fields)
            // The length would be that of the picture, not of this empty answer (RFC 9110 §8.6).
            response.headers[.contentLength] = nil
            return response
        case .proceed:
            var fields = fields
            fields[.contentType] = picture.format.mediaType
            fields[.contentDisposition] = query.fileName.map { "inline; filename=\"\($0)\"" } ?? "inline"
            return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: picture.body))
        }
    }

    /// What a 304 carries too (RFC 9110 §15.4.5), and what makes tricks with the content inert.
    private var fields: HTTPFields {
        var fields = Self.protection
        fields[.eTag] = tag.description
        fields[.cacheControl] = CacheControl(.anyone(maxAge: maxAge)).description
        fields[.age] = String(ageSeconds)
        if let lastModified = picture.lastModified { fields[.lastModified] = HTTPDate(lastModified).description }
        if query.output.isNegotiated { fields[.vary] = "Accept" }
        fields[.cacheStatus] = picture.cache.status.description
        fields[.serverTiming] = picture.timings.serverTiming
        return fields
    }

    private static let protection: HTTPFields = [
        .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; sandbox",
        .crossOriginResourcePolicy: "cross-origin",
    ]

    /// Since the source's bytes arrived here.
    private var ageSeconds: Int64 { Int64(max(0, min(now.timeIntervalSince(picture.fetchedAt), 1e9))) }

    /// A client takes `Age` off (RFC 9111 §4.2), so the age is added to leave it all of what was promised.
    private var maxAge: Duration { .seconds(ageSeconds) + (query.maxAge ?? variantMaxAge) }
}
