import DarkroomDialects
import DarkroomHTTPServer
import DarkroomQuery
import HTTPTypes
import Hummingbird

/// A route that answers only requests with an ``Authorization``. Only ``RouteAuthorizer`` turns it into a ``Route``.
struct AuthorizedRoute: Sendable {
    typealias Respond = @Sendable (Request, ServerRequestContext, Authorization) async throws(Problem) -> Response

    let path: String
    var methods: [HTTPRequest.Method] = [.get, .head]
    /// The path that signatures are made for.
    let signedPath: String
    /// What `preset` means at this endpoint.
    let presets: Authorizer.PresetUse
    /// The dialect of queries that do not name theirs; nil = the endpoint reads Darkroom's parameters only.
    let dialect: Dialect?
    /// The parameters as received.
    var query: @Sendable (Request, ServerRequestContext) throws(Problem) -> QueryString
    /// The path of another service that a request gives instead of parameters; nil = it gives parameters.
    var translation: @Sendable (Request) throws(Problem) -> PathTranslation? = { _ in nil }
    /// Whether a request needs no signature where others do.
    var isOpen: @Sendable (ServerRequestContext) -> Bool = { _ in false }
    var respond: Respond

    /// A route whose parameters are in the query of the request target.
    init(
        _ path: String, presets: Authorizer.PresetUse, dialect: Dialect? = nil,
        respond: @escaping Respond
    ) {
        self.path = path
        signedPath = path
        self.presets = presets
        self.dialect = dialect
        query = { request, _ throws(Problem) in
            let text = request.uri.query ?? ""
            guard let dialect else { return try requireValid(QueryString(parsing: text)) }
            return try requireValid(Dialect.parameters(of: text, standard: dialect))
        }
        self.respond = respond
    }

    /// The route of a ``SignedPath``, whose parameters are in the path.
    init(
        inPath dialect: Dialect,
        respond: @escaping Respond
    ) {
        path = SignedPath.pattern
        signedPath = SignedPath.signedPath
        presets = .accepted
        self.dialect = dialect
        query = { request, _ throws(Problem) in
            try request.requireNoQuery()
            return try requireAuthorized(SignedPath.parameters(of: request.head.path ?? ""))
        }
        self.respond = respond
    }
}

extension Request {
    /// Throws a problem if a request has a query although its path has the parameters.
    func requireNoQuery() throws(Problem) {
        guard uri.query ?? "" == "" else {
            throw Problem(
                .invalidParameter, "The parameters are part of this path; a query after '?' is not allowed.")
        }
    }
}

extension AuthorizedRoute {
    /// The route of the paths of another service.
    init(
        _ paths: any PathDialect, at route: String, limits: QueryLimits,
        respond: @escaping Respond
    ) {
        self.init(route, presets: .unsupported, respond: respond)
        translation = { request throws(Problem) in
            try requireAuthorized(paths.translate((request.head.path ?? "")[...], limits: limits))
        }
    }

    /// What `preset` means in a query. Presets have Darkroom's parameters, so other dialects have none.
    fileprivate func presets(for query: QueryString) -> Authorizer.PresetUse {
        guard let dialect, Dialect.of(query, standard: dialect) != .darkroom else { return presets }
        return .unsupported
    }
}

/// Turns authorized routes into routes.
struct RouteAuthorizer: Sendable {
    private let authorizer: Authorizer
    private let token: AdminToken?
    private let access: Access

    init(_ configuration: WebConfiguration) {
        authorizer = Authorizer(configuration)
        token = configuration.adminToken.map(AdminToken.init)
        access = configuration.access
    }

    /// The route, behind a check of the authorization.
    func guarding(_ route: AuthorizedRoute) -> Route {
        // A handler that reads a body has long steps.
        let isShort = !route.methods.contains(.post)
        return Route(route.path, route.methods, runsOnEventLoop: isShort, isEmbeddable: true) {
            request, context throws(Problem) in
            try request.requireParsableTarget()
            var authorization = try authorization(of: request, context, route)
            authorization.client = access.client(of: authorization.key, address: context.client)
            return try await route.respond(request, context, authorization)
        }
    }

    private func authorization(
        of request: Request, _ context: ServerRequestContext, _ route: AuthorizedRoute
    ) throws(Problem) -> Authorization {
        let isAdmin = token?.isPresent(in: request.headers) == true
        if let path = try route.translation(request) {
            return try requireAuthorized(authorizer.authorize(path, isAdmin: isAdmin))
        }
        let query = try route.query(request, context)
        return try requireAuthorized(
            authorizer.authorize(
                query, path: route.signedPath, presets: route.presets(for: query),
                dialect: route.dialect ?? .darkroom, isAdmin: isAdmin, isOpen: route.isOpen(context)))
    }
}

extension Authorizer {
    init(_ configuration: WebConfiguration) {
        let access = configuration.access
        self.init(
            keys: access.signingKeys, presets: access.presets, presetsOnly: access.presetsOnly,
            hasPathKeys: configuration.pathDialect?.requiresSignature == true, now: configuration.now)
    }
}

extension URLSigner {
    /// Signs as a server of this configuration.
    package init(_ configuration: WebConfiguration) {
        self.init(
            keys: configuration.access.signingKeys, authorizer: Authorizer(configuration), limits: configuration.limits,
            sourceMap: configuration.sourceMap, prefix: configuration.urlPrefix, dialect: configuration.dialect)
    }
}

extension ImageURLBuilder {
    init(_ configuration: WebConfiguration) {
        self.init(
            prefix: configuration.urlPrefix, limits: configuration.limits, keys: configuration.access.signingKeys,
            dialect: configuration.dialect)
    }
}
