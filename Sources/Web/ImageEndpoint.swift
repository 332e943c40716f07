import DarkroomHTTPCaching
import DarkroomPipeline
import DarkroomQuery
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
        let inPath = AuthorizedRoute(inPath: { request, _, authorization throws(Problem) in
            try await respond(to: request, authorization)
        })
        return [route(at: "/image", presets: .accepted), inPath]
    }
    /// Those of ``info``.
    var infoRoutes: [AuthorizedRoute] { [route(at: "/info", presets: .irrelevant)] }

    private func route(at path: String, presets: Authorizer.PresetUse) -> AuthorizedRoute {
        AuthorizedRoute(path, presets: presets) { request, _, authorization throws(Problem) in
            try await respond(to: request, authorization)
        }
    }

    /// The same for `/info`, whose queries are shorter.
    var info: ImageEndpoint {
        var info = self
        info.grammar = .info(limits: configuration.limits)
        return info
    }

    private func respond(to request: Request, _ authorization: Authorization) async throws(Problem) -> Response {
        guard !request.headers.passedThrough(configuration.viaPseudonym) else { throw .loop }
        let query = try query(of: authorization)
        guard configuration.allowGPS || !query.includesPosition else { throw .gpsNotAllowed }
        let wanted = try imageRequest(query, of: request, authorization)
        do throws(PipelineError) {
            var answer = ImageAnswer(
                picture: try await picture(wanted), query: query, authorization: authorization,
                configuration: configuration)
            if query.includesCaching { answer.caching = CachingDocument(answer.picture, await location(wanted)) }
            return answer.response(to: request)
        } catch {
            var problem = Problem(error)
            problem.variesByAccept = query.isNegotiated
            throw problem
        }
    }

    private func query(of authorization: Authorization) throws(Problem) -> ImageQuery {
        do throws(InvalidParameter) {
            return try grammar.parse(authorization.query)
        } catch {
            throw Problem(error)
        }
    }

    /// What the query and the fields of a request come to.
    func imageRequest(
        _ query: ImageQuery, of request: Request, _ authorization: Authorization
    ) throws(Problem) -> ImageRequest {
        var wanted = try authorization.requireSources(in: query)
        query.apply(
            to: &wanted, acceptingWebP: FormatNegotiation.acceptsWebP(request.headers[.accept]),
            policy: try demand(query.cache, request.headers))
        wanted.placeholders = query.placeholders
        wanted.client = authorization.client
        wanted.priority = query.priority ?? Priority(fields: request.headers)
        return wanted
    }

    /// A mode that asks the origin needs leave; directives that would are left to the pipeline, which overlooks them
    /// without it, since every browser sends them on a reload.
    private func demand(_ mode: CacheMode, _ fields: HTTPFields) throws(Problem) -> RequestCachePolicy {
        let allowsForcedRefresh = configuration.allowForcedRefresh || token?.isCarried(by: fields) == true
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
