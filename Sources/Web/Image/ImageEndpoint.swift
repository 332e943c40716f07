import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import HTTPTypes
import Hummingbird

/// `GET /image` and `GET /info`: the way of a request from the query to the response.
struct ImageEndpoint: Sendable {
    let configuration: WebConfiguration
    private(set) var grammar: ImageQueryGrammar
    /// Finds or produces the image.
    let image: @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    /// The cache tiers that hold the image.
    let location: @Sendable (ImageRequest) async -> CacheLocation
    private let token: AdminToken?

    init(
        configuration: WebConfiguration,
        location: @escaping @Sendable (ImageRequest) async -> CacheLocation = { _ in CacheLocation() },
        image: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    ) {
        self.configuration = configuration
        self.location = location
        self.image = image
        grammar = ImageQueryGrammar(limits: configuration.limits)
        token = configuration.adminToken.map(AdminToken.init)
    }

    var routes: [AuthorizedRoute] {
        let inPath = AuthorizedRoute(
            SignedPath.pattern, signedAs: SignedPath.signedPath, presets: .taken, query: SignedPath.query
        ) { request, _, permit throws(Problem) in
            try await respond(to: request, permit)
        }
        return [route(at: "/image", presets: .taken), inPath]
    }

    /// The routes of ``info``.
    var infoRoutes: [AuthorizedRoute] { [route(at: "/info", presets: .needless)] }

    private func route(at path: String, presets: Authorizer.PresetUse) -> AuthorizedRoute {
        AuthorizedRoute(path, presets: presets) { request, _, permit throws(Problem) in
            try await respond(to: request, permit)
        }
    }

    /// The endpoint for `/info`, whose grammar has fewer parameters.
    var info: ImageEndpoint {
        var info = self
        info.grammar = .info(limits: configuration.limits)
        return info
    }

    private func respond(to request: Request, _ permit: Permit) async throws(Problem) -> Response {
        guard !request.headers.viaContains(configuration.viaPseudonym) else { throw .loop }
        let query = try query(of: permit)
        guard configuration.allowGPS || !query.tellsPosition else { throw .gpsNotAllowed }
        let imageRequest = try imageRequest(query, of: request, permit)
        do throws(PipelineError) {
            var response = ImageHTTPResponse(
                image: try await image(imageRequest), query: query, permit: permit, configuration: configuration)
            if query.tellsCaching {
                response.caching = CachingDocument(response.image, await location(imageRequest))
            }
            return response.response(to: request)
        } catch {
            var problem = Problem(error)
            if query.output.isNegotiated { problem.fields[.vary] = "Accept" }
            throw problem
        }
    }

    private func query(of permit: Permit) throws(Problem) -> ImageQuery {
        do throws(InvalidParameter) {
            return try grammar.parse(permit.query)
        } catch {
            throw Problem(error)
        }
    }

    /// The pipeline's request for a query and the header fields that affect it.
    func imageRequest(
        _ query: ImageQuery, of request: Request, _ permit: Permit
    ) throws(Problem) -> ImageRequest {
        var imageRequest = try ImageRequest(sourcesOf: query)
        try permit.requireSources(of: imageRequest)
        imageRequest.recipe = query.recipe
        imageRequest.pages = query.pages
        imageRequest.placeholders = query.placeholders
        imageRequest.output = query.output.options(takesWebP: FormatNegotiation.acceptsWebP(request.headers[.accept]))
        imageRequest.client = permit.client
        imageRequest.priority = query.priority ?? Priority(fields: request.headers)
        imageRequest.cache = CacheOptions(
            policy: try demand(query.cache, request.headers), store: query.store, waitsForDisk: query.waitsForDisk)
        return imageRequest
    }

    /// A mode that contacts the origin requires permission. `Cache-Control` directives that do the same are passed on,
    /// and the pipeline ignores them without permission, because every browser sends them on reload.
    private func demand(_ mode: CacheMode, _ fields: HTTPFields) throws(Problem) -> RequestCachePolicy {
        let allowsForcedRefresh = configuration.allowForcedRefresh || token?.isPresent(in: fields) == true
        guard allowsForcedRefresh || !mode.forcesOriginRequest else { throw .refreshNotAllowed(mode) }
        return RequestCachePolicy(mode: mode, directives: RequestDirectives(fields), allowsForcedRefresh: allowsForcedRefresh)
    }
}

extension Priority {
    /// The class of the urgency in a `Priority` field (RFC 9218 §4.1): of the eight urgencies, 3 is the default.
    init(fields: HTTPFields) {
        let requested = fields[.priority].map(RequestPriority.init(parsing:)) ?? .default
        switch requested.urgency {
        case ...2: self = .high
        case 3...4: self = .normal
        default: self = .low
        }
    }
}
