import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import HTTPTypes
import Hummingbird

/// The IIIF Image API 3.0 at level 2: an image, the document about it, and the redirect from its base URI.
///
/// A path means an image of the query language once the size of the full image is known. The document of `/info` has
/// it, which is cached like an image.
struct IIIFEndpoint: Sendable {
    /// Finds or produces images, and reads the header fields that affect them.
    let endpoint: ImageEndpoint
    /// Finds or produces the document of `/info` for an image. The request already counts as an image request.
    let describe: @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse

    /// The parts of a path by the parameters that they become.
    private static let parameterNames = [
        "url": "identifier", "crop": "region", "w": "size", "h": "size", "output": "format",
    ]

    private var configuration: WebConfiguration { endpoint.configuration }
    private var limits: PixelLimits { configuration.pixelLimits }

    var routes: [AuthorizedRoute] {
        [
            route(IIIFPath.base) { _, _, identifier, _, _ throws(Problem) in redirect(identifier) },
            route(IIIFPath.information, respond: information), route(IIIFPath.image, respond: image),
        ]
    }

    private typealias Respond =
        @Sendable (Request, RequestHead, IIIFIdentifier, ServerRequestContext, Authorization) async throws(Problem) ->
        Response

    private func route(_ path: String, respond: @escaping Respond) -> AuthorizedRoute {
        AuthorizedRoute(iiif: path, configuration) { head, authorization, _ throws(Problem) in
            .later { request, context async throws(Problem) in
                try await respond(request, head, IIIFIdentifier(in: head), context, authorization)
            }
        }
    }

    // MARK: Base URI

    private func redirect(_ identifier: IIIFIdentifier) -> Response {
        Response(
            status: .seeOther,
            headers: [
                .location: identifier.baseReference(configuration) + "/info.json",
                .cacheControl: "public, max-age=3600",
            ])
    }

    // MARK: Document

    private func information(
        _ request: Request, _ head: RequestHead, _ identifier: IIIFIdentifier, _ context: ServerRequestContext,
        _ authorization: Authorization
    ) async throws(Problem) -> Response {
        let base = try identifier.baseURI(of: request, head, configuration)
        let query = try identifier.informationQuery(configuration)
        var described = try await response(to: query, head, context, authorization, endpoint.image)
        let source = try IIIFSource(described)
        let type = IIIFMediaType(accept: head.accept)
        described.show(
            IIIFDocument(id: base, source, limits: limits, unwritable: configuration.limits.unwritable), as: type)
        var response = ImageHTTPResponse(
            image: described, query: query, authorization: authorization, configuration: configuration
        ).response(to: head)
        if response.headers[.contentType] != nil { response.headers[.contentType] = type.rawValue }
        response.headers[.vary] = response.headers[.vary].map { "\($0), Accept" } ?? "Accept"
        if configuration.publicURL == nil { response.headers[.cacheControl] = CacheControl.noStore.description }
        response.headers[.link] = Self.profileLink
        return response
    }

    // MARK: Image

    private func image(
        _: Request, _ head: RequestHead, _ identifier: IIIFIdentifier, _ context: ServerRequestContext,
        _ authorization: Authorization
    ) async throws(Problem) -> Response {
        let path = try path(in: context)
        let base = identifier.baseReference(configuration)
        let information = try identifier.informationQuery(configuration)
        let source = try IIIFSource(try await response(to: information, head, context, authorization, describe))
        let image = try requireValid(path.image(of: information.url, full: source.size, limits: limits))
        var query = image.query
        // The freshness of the document has just been evaluated, for the client and by the origin's fields.
        query.cache = .forceCache
        let made = try await response(to: query, head, context, authorization, endpoint.image)
        var response = ImageHTTPResponse(
            image: made, query: query, authorization: authorization, configuration: configuration
        ).response(to: head)
        response.headers[.link] = "\(Self.profileLink), <\(base)/\(image.canonicalPath)>;rel=\"canonical\""
        return response
    }

    private func path(in context: ServerRequestContext) throws(Problem) -> IIIFImagePath {
        func segment(_ name: String) throws(InvalidParameter) -> String {
            try IIIFPath.text(of: context.parameter(name) ?? "", named: name)
        }
        return try requireValid(
            IIIFImagePath(
                region: segment("region"), size: segment("size"), rotation: segment("rotation"), file: segment("file"),
                limits: configuration.limits))
    }

    /// The compliance level (§6).
    private static let profileLink = "<http://iiif.io/api/image/3/level2.json>;rel=\"profile\""

    // MARK: Pipeline

    private func response(
        to query: ImageQuery, _ head: RequestHead, _ context: ServerRequestContext, _ authorization: Authorization,
        _ find: (ImageRequest) async throws(PipelineError) -> ImageResponse
    ) async throws(Problem) -> ImageResponse {
        let imageRequest = try endpoint.imageRequest(query, of: head, authorization)
        do throws(PipelineError) {
            let response = try await find(imageRequest)
            context.logDetails = endpoint.details(of: imageRequest, response)
            return response
        } catch {
            context.logDetails = endpoint.details(of: imageRequest, error: error)
            let problem = Problem(
                error, of: imageRequest.source, for: head, configuration,
                naming: { Self.parameterNames[$0] ?? $0 })
            throw endpoint.varying(problem, by: query)
        }
    }
}

extension HTTPField.Name {
    /// `Link` (RFC 8288).
    fileprivate static let link = known("Link")
}
