import Crypto
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomQuery
import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// `GET /` without a source: the playground, a self-contained page to try the service.
final class PlaygroundEndpoint: Sendable {
    private struct Page {
        let body: ByteBuffer
        let tag: EntityTag
        let policy: String

        init(_ bytes: [UInt8]) {
            body = ByteBuffer(bytes: bytes)
            tag = EntityTag(Data(SHA256.hash(data: bytes)).base64EncodedString())
            policy = PlaygroundEndpoint.policy(of: String(decoding: bytes, as: UTF8.self))
        }
    }

    private let document: @Sendable () -> [UInt8]
    /// Made for the first request, because that takes a tenth of the time of a start.
    private let page = Mutex<Page?>(nil)

    convenience init(_ configuration: WebConfiguration) {
        self.init(
            page: PlaygroundPage.document(
                for: .init(
                    parameters: ImageQueryGrammar(limits: configuration.limits).summaries,
                    hasLocalFiles: configuration.hasLocalFiles,
                    needsSignature: configuration.requiresSignature,
                    hasOtherDialect: configuration.dialect != .darkroom,
                    unwritable: configuration.limits.unwritable.map(\.rawValue).sorted())))
    }

    init(page document: @escaping @autoclosure @Sendable () -> [UInt8]) { self.document = document }

    /// The route at the path that it shares with images, whose route comes first.
    func route(isServed: Bool) -> Route {
        Route(ImageEndpoint.wsrvPath) { [self] _ throws(Problem) in
            guard isServed else { throw .noSuchRoute }
            return .later { [self] request, _ in respond(to: request) }
        }
    }

    /// Whether a request to this path is for an image.
    static func isImage(_ head: RequestHead) -> Bool {
        head.query.utf8.split(separator: UInt8(ascii: "&")).contains { pair in
            pair.prefix { $0 != UInt8(ascii: "=") }.elementsEqual("url".utf8)
        }
    }

    func respond(to request: Request) -> Response {
        let page = page.withLock { page in
            let made = page ?? Page(document())
            page = made
            return made
        }
        let precondition = Preconditions.evaluate(
            method: request.method, fields: request.headers, tag: page.tag, lastModified: nil)
        var fields: HTTPFields = [
            .eTag: page.tag.description, .cacheControl: CacheControl(.public(maxAge: Self.maxAge)).description,
            .contentSecurityPolicy: page.policy, .xContentTypeOptions: "nosniff",
            .crossOriginResourcePolicy: "same-origin",
        ]
        guard precondition == .proceed else { return Response(status: .notModified, headers: fields) }
        fields[.contentType] = "text/html; charset=utf-8"
        return Response(status: .ok, headers: fields, body: ResponseBody(byteBuffer: page.body))
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

    /// The CSP hash of the page's only `<element>` that is not a data block.
    private static func source(_ element: String, in page: String) -> String {
        guard let start = page.range(of: "<\(element)( type=\"module\")?>", options: .regularExpression),
            let end = page.range(of: "</\(element)>", range: start.upperBound..<page.endIndex)
        else { return "'none'" }
        return HTMLPage.policySource(ofInline: page[start.upperBound..<end.lowerBound])
    }
}

/// The playground as one document, put together from the files of `Playground`.
enum PlaygroundPage {
    /// The properties of the server that the page needs before it sends a request.
    struct Server: Encodable {
        /// The parameters of `/image`. Controls of others are left out.
        var parameters: [ParameterSummary]
        /// Whether there may be images of the fixtures directory, besides ``SampleImages``.
        var hasLocalFiles = false
        /// Whether images require a signature or the admin token.
        var needsSignature = false
        /// Whether queries of `/image` have to say that their parameters are Darkroom's.
        var hasOtherDialect = false
        /// Formats of `output` that the server cannot write. Their controls are left out.
        var unwritable: [String] = []
    }

    static func document(for server: Server) -> [UInt8] {
        Array(frame.joined(separator: json(server)).utf8)
    }

    /// What precedes and follows the statement about the server.
    private static let frame: [String] = text(PackageResources.page_html)
        .replacing("{{styles}}", with: "\n" + styles.map(text).joined(separator: "\n"))
        .replacing("{{scripts}}", with: "\n" + scripts.map(text).joined(separator: "\n"))
        .components(separatedBy: "{{server}}")

    private static var styles: [[UInt8]] {
        [
            PackageResources.base_css, PackageResources.page_css, PackageResources.stage_css,
            PackageResources.controls_css, PackageResources.panels_css, PackageResources.views_css,
        ]
    }

    /// One script for the browser. Code that a file runs at load time needs only the files before it.
    private static var scripts: [[UInt8]] {
        [
            PackageResources.helpers_js, PackageResources.requests_js, PackageResources.trouble_js,
            PackageResources.state_js, PackageResources.image_js, PackageResources.tools_js, PackageResources.fields_js,
            PackageResources.controls_js, PackageResources.samples_js, PackageResources.foreign_js,
            PackageResources.figures_js, PackageResources.panels_js, PackageResources.code_js,
            PackageResources.swift_js,
            PackageResources.formats_js, PackageResources.placeholders_js, PackageResources.explain_js,
            PackageResources.token_js, PackageResources.cache_js, PackageResources.prefetch_js,
            PackageResources.start_js,
        ]
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// JSON that may stand in a script element, which any `</script` or `<!--` in it would end or change.
    private static func json(_ server: Server) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return (try? encoder.encode(server)).map { text(Array($0)).replacing("<", with: "\\u003c") } ?? "{}"
    }
}

/// The images that the playground offers, and that servers with the playground have as sources.
///
/// The photographs are in the public domain (CC0): the cat by Stéfan van der Walt, the coffee by Rachel Michetti.
/// The lake is the drawing of the fixtures, smaller.
package enum SampleImages {
    /// The bytes of each image by the path of its `local:` URL.
    package static let files: [String: [UInt8]] = [
        "/samples/coffee.jpg": PackageResources.coffee_jpg,
        "/samples/cat.jpg": PackageResources.cat_jpg,
        "/samples/lake.jpg": PackageResources.lake_jpg,
        "/samples/paper-plane.svg": PackageResources.paper_plane_svg,
    ]
}
