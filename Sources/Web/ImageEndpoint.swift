import DarkroomHTTPCaching
import DarkroomPipeline
import HTTPTypes
import Hummingbird

/// `GET` and `HEAD` of `/image` and `/info`: one request's story, from the query to the answer.
struct ImageEndpoint: Sendable {
    let configuration: WebConfiguration
    private(set) var grammar: ImageQueryGrammar
    /// Makes or finds the picture.
    let picture: @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    /// Tells in which caches it is.
    let location: @Sendable (ImageRequest) async -> CacheLocation
    private let token: AdminToken?

    init(
        configuration: WebConfiguration,
        location: @escaping @Sendable (ImageRequest) async -> CacheLocation = { _ in CacheLocation() },
        picture: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    ) {
        self.configuration = configuration
        self.location = location
        self.picture = picture
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
    /// Those of ``info``.
    var infoRoutes: [AuthorizedRoute] { [route(at: "/info", presets: .needless)] }

    private func route(at path: String, presets: Authorizer.PresetUse) -> AuthorizedRoute {
        AuthorizedRoute(path, presets: presets) { request, _, permit throws(Problem) in
            try await respond(to: request, permit)
        }
    }

    /// The same for `/info`, whose queries are shorter.
    var info: ImageEndpoint {
        var info = self
        info.grammar = .info(limits: configuration.limits)
        return info
    }

    private func respond(to request: Request, _ permit: Permit) async throws(Problem) -> Response {
        guard !request.headers.viaContains(configuration.viaPseudonym) else { throw .loop }
        let query = try query(of: permit)
        guard configuration.allowGPS || !query.tellsPosition else { throw .gpsNotAllowed }
        let wanted = try imageRequest(query, of: request, permit)
        do throws(PipelineError) {
            var answer = ImageHTTPResponse(
                picture: try await picture(wanted), query: query, permit: permit, configuration: configuration)
            if query.tellsCaching { answer.caching = CachingDocument(answer.picture, await location(wanted)) }
            return answer.response(to: request)
        } catch {
            var problem = Problem(error)
            problem.variesByAccept = query.output.isNegotiated
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

    /// What the query and the fields of a request come to.
    func imageRequest(
        _ query: ImageQuery, of request: Request, _ permit: Permit
    ) throws(Problem) -> ImageRequest {
        var wanted = try ImageRequest(sourcesOf: query)
        try permit.requireSources(of: wanted)
        wanted.recipe = query.recipe
        wanted.pages = query.pages
        wanted.placeholders = query.placeholders
        wanted.output = query.output.options(takesWebP: FormatNegotiation.acceptsWebP(request.headers[.accept]))
        wanted.client = permit.client
        wanted.priority = query.priority ?? Priority(fields: request.headers)
        wanted.cache = CacheOptions(
            policy: try demand(query.cache, request.headers), store: query.store, waitsForDisk: query.waitsForDisk)
        return wanted
    }

    /// A mode that asks the origin needs leave; directives that would are left to the pipeline, which overlooks them
    /// without it, since every browser sends them on a reload.
    private func demand(_ mode: CacheMode, _ fields: HTTPFields) throws(Problem) -> RequestCachePolicy {
        let allowsForcedRefresh = configuration.allowForcedRefresh || token?.isPresent(in: fields) == true
        guard allowsForcedRefresh || !mode.forcesOriginRequest else { throw .refreshNotAllowed(mode) }
        return RequestCachePolicy(mode: mode, directives: RequestDirectives(fields), allowsForcedRefresh: allowsForcedRefresh)
    }
}

extension Priority {
    /// What a `Priority` field asks for: the eight urgencies of RFC 9218 §4.1, of which 3 is the standard, in three classes.
    init(fields: HTTPFields) {
        let wish = fields[.priority].map(RequestPriority.init(parsing:)) ?? .default
        switch wish.urgency {
        case ...2: self = .high
        case 3...4: self = .normal
        default: self = .low
        }
    }
}
