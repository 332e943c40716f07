import Crypto
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomQuery
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /` without a source: the playground, a self-contained page to try the service.
struct PlaygroundEndpoint: Sendable {
    private let body: ByteBuffer
    private let tag: EntityTag
    private let policy: String

    init(_ configuration: WebConfiguration) {
        let parameters = ImageQueryGrammar(limits: configuration.limits).summaries
        self.init(
            page: PlaygroundPage.document(
                for: .init(
                    parameters: parameters, hasSampleImages: configuration.hasSampleImages,
                    hasOtherDialect: configuration.dialect != .darkroom,
                    unwritable: configuration.limits.unwritable.map(\.rawValue).sorted())))
    }

    init(page: [UInt8]) {
        body = ByteBuffer(bytes: page)
        tag = EntityTag(Data(SHA256.hash(data: page)).base64EncodedString())
        policy = Self.policy(of: String(decoding: page, as: UTF8.self))
    }

    /// The route of images at the same path, which answers requests with a `url`.
    ///
    /// - Parameter isServed: Whether other requests get the page.
    func sharing(_ images: Route, isServed: Bool) -> Route {
        Route(images.path, images.methods) { request, context throws(Problem) in
            if Self.isImage(request) { return try await images.respond(request, context) }
            guard isServed else { throw .noSuchRoute }
            return respond(to: request)
        }
    }

    /// Whether a request to this path is for an image.
    static func isImage(_ request: Request) -> Bool {
        guard request.uri.path == ImageEndpoint.wsrvPath else { return false }
        return (request.uri.query ?? "").utf8.split(separator: UInt8(ascii: "&")).contains { pair in
            pair.prefix { $0 != UInt8(ascii: "=") }.elementsEqual("url".utf8)
        }
    }

    func respond(to request: Request) -> Response {
        let precondition = Preconditions.evaluate(
            method: request.method, fields: request.headers, tag: tag, lastModified: nil)
        var fields: HTTPFields = [
            .eTag: tag.description, .cacheControl: CacheControl(.public(maxAge: Self.maxAge)).description,
            .contentSecurityPolicy: policy, .xContentTypeOptions: "nosniff",
        ]
        guard precondition == .proceed else { return Response(status: .notModified, headers: fields) }
        fields[.contentType] = "text/html; charset=utf-8"
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: body))
    }

    /// Short, so that a new version of the server appears soon.
    private static let maxAge = Duration.seconds(300)

    /// Allows the page's own script and style by their hashes, and requests to this server only.
    private static func policy(of page: String) -> String {
        """
        default-src 'none'; script-src \(source("script", in: page)); style-src \(source("style", in: page)); \
        img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'
        """
    }

    /// The source expression of the page's only element of that name that is no data block.
    private static func source(_ element: String, in page: String) -> String {
        guard let start = page.range(of: "<\(element)( type=\"module\")?>", options: .regularExpression),
            let end = page.range(of: "</\(element)>", range: start.upperBound..<page.endIndex)
        else { return "'none'" }
        return HTMLPage.policySource(ofInline: page[start.upperBound..<end.lowerBound])
    }
}
