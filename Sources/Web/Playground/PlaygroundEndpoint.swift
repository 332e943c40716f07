import Crypto
import DarkroomHTTPCaching
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// The page at `/`, on which people try the service. It has all that it needs within it.
struct PlaygroundEndpoint: Sendable {
    private let body: ByteBuffer
    private let tag: EntityTag
    private let policy: String

    init(page: [UInt8] = PackageResources.playground_html) {
        body = ByteBuffer(bytes: page)
        tag = EntityTag(Data(SHA256.hash(data: page)).base64EncodedString())
        policy = Self.policy(of: String(decoding: page, as: UTF8.self))
    }

    var routes: [Route] { [Route("/") { request, _ throws(Problem) in respond(to: request) }] }

    func respond(to request: Request) -> Response {
        let isKnown = Preconditions.evaluate(
            method: request.method, fields: request.headers, tag: tag, lastModified: nil)
        var fields: HTTPFields = [
            .eTag: tag.description, .cacheControl: CacheControl(.public(maxAge: Self.maxAge)).description,
            .contentSecurityPolicy: policy, .xContentTypeOptions: "nosniff",
        ]
        guard isKnown == .proceed else { return Response(status: .notModified, headers: fields) }
        fields[.contentType] = "text/html; charset=utf-8"
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: body))
    }

    /// A new version of the server is to be seen soon.
    private static let maxAge = Duration.seconds(300)

    /// Nothing runs but the page's own script and style, told by their hashes (CSP Level 3 §8.4), and nothing is loaded
    /// but from this server.
    private static func policy(of page: String) -> String {
        """
        default-src 'none'; script-src \(source("script", in: page)); style-src \(source("style", in: page)); \
        img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
    }

    /// The source expression of the one element of that name.
    private static func source(_ element: String, in page: String) -> String {
        guard let start = page.range(of: "<\(element)[^>]*>", options: .regularExpression),
            let end = page.range(of: "</\(element)>", range: start.upperBound..<page.endIndex)
        else { return "'none'" }
        let hash = SHA256.hash(data: Data(page[start.upperBound..<end.lowerBound].utf8))
        return "'sha256-\(Data(hash).base64EncodedString())'"
    }
}
