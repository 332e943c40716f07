import DarkroomDialects
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import DarkroomTransforms
import HTTPTypes
import Hummingbird

/// `GET /image`, `GET /` and `GET /info`: the way of a request from the query to the response.
struct ImageEndpoint: Sendable {
    let configuration: WebConfiguration
    private(set) var grammar: ImageQueryGrammar
    /// Finds or produces the image.
    let image: @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    /// The cache tiers that hold the image.
    let location: @Sendable (ImageRequest) async -> CacheLocation
    /// Takes the targets of hits, so that their next requests need not be parsed; nil = every request is parsed.
    var learner: TargetLearner?
    /// The reason to refuse an upload at the moment, before the body is read; nil if it is accepted.
    var refusalOfUpload: @Sendable (ImageRequest) -> PipelineError? = { _ in nil }
    /// Whether requests have the parameters of queries; the paths of other services have options.
    private var hasParameters = true
    private let token: AdminToken?
    /// The accounts of signing keys, by key ID.
    private let accounts: [String: KeyAccount]

    /// The path of images.
    static let path = "/image"
    /// The path of images with the parameters of wsrv.nl.
    static let wsrvPath = "/"

    init(
        configuration: WebConfiguration,
        location: @escaping @Sendable (ImageRequest) async -> CacheLocation = { _ in CacheLocation() },
        image: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    ) {
        self.configuration = configuration
        self.location = location
        self.image = image
        grammar = ImageQueryGrammar(limits: configuration.limits, dialect: configuration.dialect)
        token = configuration.adminToken.map(AdminToken.init)
        accounts = configuration.accounts.accounts(of: configuration.access)
    }

    var routes: [AuthorizedRoute] {
        let inPath = AuthorizedRoute(inPath: grammar.dialect) { request, context, authorization throws(Problem) in
            try await respond(to: request, at: SignedPath.pattern, context, authorization)
        }
        return [route(at: Self.path, presets: .accepted, dialect: grammar.dialect), inPath]
    }

    /// The route of images with the parameters of wsrv.nl, which shares its path with the playground.
    var wsrvRoute: AuthorizedRoute {
        var wsrv = self
        wsrv.grammar = ImageQueryGrammar(limits: configuration.limits, dialect: .wsrv)
        return wsrv.route(at: Self.wsrvPath, presets: .accepted, dialect: .wsrv)
    }

    /// The routes of the paths of another service, if the setting `compat` names one.
    var pathRoutes: [AuthorizedRoute] {
        guard let dialect = configuration.pathDialect else { return [] }
        var endpoint = self
        endpoint.hasParameters = false
        return dialect.routes.map { [endpoint] route in
            AuthorizedRoute(dialect, at: route, limits: configuration.limits) {
                request, context, authorization throws(Problem) in
                if let target = authorization.canonicalTarget { return redirect(to: target) }
                return try await endpoint.respond(to: request, at: route, context, authorization)
            }
        }
    }

    /// The redirect of a signed request to its only target: with one signed URL, a client cannot fill caches in front
    /// with copies of an image. Shared caches must not store the redirect either.
    private func redirect(to target: String) -> Response {
        Response(
            status: .movedPermanently,
            headers: [.location: configuration.urlPrefix + target, .cacheControl: "private, max-age=3600"])
    }

    /// The route of `/info`, whose grammar has fewer parameters.
    var infoRoutes: [AuthorizedRoute] {
        var info = self
        info.grammar = .info(limits: configuration.limits)
        return [info.route(at: "/info", presets: .irrelevant)]
    }

    private func route(
        at path: String, presets: Authorizer.PresetUse, dialect: Dialect? = nil
    ) -> AuthorizedRoute {
        AuthorizedRoute(path, presets: presets, dialect: dialect) { request, context, authorization throws(Problem) in
            try await respond(to: request, at: path, context, authorization)
        }
    }

    private func respond(
        to request: Request, at path: String, _ context: ServerRequestContext, _ authorization: Authorization
    ) async throws(Problem) -> Response {
        guard !request.headers.viaContains(configuration.viaPseudonym) else { throw .loop }
        let query = try requireValid(grammar.parse(authorization.query, hints: clientHints(request.headers)))
        guard configuration.allowGPS || !query.includesPosition else { throw .gpsNotAllowed }
        let imageRequest = try imageRequest(query, of: request.headers, authorization, in: context)
        do throws(PipelineError) {
            var response = ImageHTTPResponse(
                image: try await image(imageRequest), query: query, authorization: authorization,
                configuration: configuration)
            context.logDetails = AccessLogDetails(imageRequest.source, as: configuration.logSources, response.image)
            if query.includesCaching {
                response.caching = CachingDocument(response.image, await location(imageRequest))
            }
            learn(request, at: path, query, authorization, from: response.image)
            return response.response(to: request)
        } catch {
            context.logDetails = AccessLogDetails(imageRequest.source, as: configuration.logSources, error: error)
            if let redirect = redirect(to: imageRequest.source, for: query, request, after: error) { return redirect }
            var problem = varying(
                Problem(error, of: imageRequest.source, for: request, in: context, configuration), by: query)
            configuration.tagger?.tag(&problem.fields, ofFailed: imageRequest)
            throw problem
        }
    }

    /// The problem of a request that failed.
    func problem(_ error: PipelineError, of query: ImageQuery) -> Problem { varying(Problem(error), by: query) }

    /// The problem with the fields of the request that it depends on.
    func varying(_ problem: Problem, by query: ImageQuery) -> Problem {
        var problem = hasParameters ? problem : problem.withoutParameter
        problem.fields[.vary] = configuration.negotiation.vary(of: query)
        return problem
    }

    /// The client hints of a request; nil if the server does not use them.
    func clientHints(_ fields: HTTPFields) -> ClientHints? {
        guard configuration.negotiation.usesClientHints else { return nil }
        return ClientHints(pixelRatio: fields[.secCHDPR], width: fields[.secCHWidth])
    }

    /// The pipeline's request for a query and the header fields that affect it. Its details are added to the context.
    func imageRequest(
        _ query: ImageQuery, of fields: HTTPFields, _ authorization: Authorization,
        in context: ServerRequestContext? = nil
    ) throws(Problem) -> ImageRequest {
        var imageRequest = try requireSource(query.sourceRequest(configuration.sourceMap))
        context?.logDetails = AccessLogDetails(imageRequest.source, as: configuration.logSources)
        try requireAuthorized(authorization.requireSources(of: imageRequest))
        let preferences = configuration.negotiation.preferences(
            of: query, accept: fields[.accept], connection: ConnectionHints(fields))
        query.apply(to: &imageRequest, for: preferences, policy: try policy(query.cache, fields))
        imageRequest.placeholders = query.placeholders
        imageRequest.acceptsDeferredBody =
            !query.encodesBase64 && !query.includesCaching && imageRequest.output.format?.isText != true
        imageRequest.client = authorization.client
        imageRequest.account = authorization.key.flatMap { accounts[$0.id] }
        imageRequest.priority = query.priority ?? Priority(fields: fields)
        return imageRequest
    }

    /// A mode that contacts the origin requires permission. `Cache-Control` directives that do the same are passed on,
    /// and the pipeline ignores them without permission, because every browser sends them on reload.
    private func policy(_ mode: CacheMode, _ fields: HTTPFields) throws(Problem) -> RequestCachePolicy {
        let allowsForcedRefresh = configuration.allowForcedRefresh || token?.isPresent(in: fields) == true
        guard allowsForcedRefresh || !mode.forcesOriginRequest else { throw .refreshNotAllowed(mode) }
        return RequestCachePolicy(
            mode: mode, directives: RequestDirectives(fields), allowsForcedRefresh: allowsForcedRefresh)
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
