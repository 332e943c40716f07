import DarkroomDialects
import DarkroomHTTPServer
import DarkroomQuery
import DarkroomRequests
import HTTPTypes

/// A route that answers only requests with a ``Permit``. Only a ``Gate`` turns it into a ``Route``.
struct AuthorizedRoute: Sendable {
    /// Called with the target's meaning if it is known.
    typealias Ask = @Sendable (RequestHead, Permit, KnownTarget?) throws(Problem) -> Answer

    let path: String
    var methods: [HTTPRequest.Method] = [.get, .head]
    /// The path that signatures are made for.
    let signedPath: String
    /// What `preset` means at this endpoint.
    let presets: Authorizer.PresetUse
    /// The dialect of queries that do not name theirs; nil = the endpoint reads Darkroom's parameters only.
    let dialect: Dialect?
    /// The parameters as received.
    var query: @Sendable (RequestHead) throws(Problem) -> QueryString
    /// The path of another service that a request gives instead of parameters; nil = it gives parameters.
    var translation: @Sendable (RequestHead) throws(Problem) -> PathTranslation? = { _ in nil }
    /// Whether a request needs no signature where others do.
    var isOpen: @Sendable (RequestHead) -> Bool = { _ in false }
    /// See ``Route/accepts``.
    var accepts: @Sendable (RequestHead) -> Bool = { _ in true }
    /// See ``Route/origins``.
    var origins = CORSPolicy.none
    /// The meaning of the target, if an earlier request has shown it.
    var known: @Sendable (RequestHead) -> KnownTarget? = { _ in nil }
    let answer: Ask

    /// A route whose parameters are in the query of the request target.
    init(_ path: String, presets: Authorizer.PresetUse, dialect: Dialect? = nil, answer: @escaping Ask) {
        self.path = path
        signedPath = path
        self.presets = presets
        self.dialect = dialect
        query = { head throws(Problem) in
            guard let dialect else { return try requireValid(QueryString(parsing: head.query)) }
            return try requireValid(Dialect.parameters(of: head.query, standard: dialect))
        }
        self.answer = answer
    }

    /// The route of a ``SignedPath``, whose parameters are in the path.
    init(inPath dialect: Dialect, answer: @escaping Ask) {
        path = SignedPath.pattern
        signedPath = SignedPath.signedPath
        presets = .accepted
        self.dialect = dialect
        query = { head throws(Problem) in
            try head.requireNoQuery()
            return try requireAuthorized(SignedPath.parameters(of: head.target))
        }
        self.answer = answer
    }

    /// The route of the paths of another service.
    init(_ paths: any PathDialect, at route: String, limits: QueryLimits, answer: @escaping Ask) {
        self.init(route, presets: .unsupported, answer: answer)
        translation = { head throws(Problem) in
            try requireAuthorized(paths.translate(head.target[...], limits: limits))
        }
    }

    /// What `preset` means in a query. Presets have Darkroom's parameters, so other dialects have none.
    func presets(for query: QueryString) -> Authorizer.PresetUse {
        guard let dialect, Dialect.of(query, standard: dialect) != .darkroom else { return presets }
        return .unsupported
    }
}

extension RequestHead {
    /// Throws a problem if a request has a query although its path has the parameters.
    func requireNoQuery() throws(Problem) {
        guard query.isEmpty else {
            throw Problem(
                .invalidParameter, "The parameters are part of this path; a query after '?' is not allowed.")
        }
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
