import Crypto
import DarkroomDialects
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import HTTPTypes
import Hummingbird

/// The only policy for images and documents about images: each request passes it, whichever way it is answered.
///
/// What follows from the target and the configuration alone is decided once for a target: its signature, its presets,
/// its sources and its details. Expiry, quota, rate and loop are decided for each request.
struct Gate: Sendable {
    private let configuration: WebConfiguration
    private let authorizer: Authorizer
    private let token: AdminToken?
    private let limiter: RateLimiter
    private let accounts: [String: KeyAccount]

    init(_ configuration: WebConfiguration, limiter: RateLimiter = RateLimiter()) {
        self.configuration = configuration
        self.limiter = limiter
        authorizer = Authorizer(configuration)
        token = configuration.adminToken.map(AdminToken.init)
        accounts = configuration.accounts.accounts(of: configuration.access)
    }
}

// MARK: Requests

extension Gate {
    /// The route, behind the gate.
    func guarding(_ route: AuthorizedRoute) -> Route {
        var guarded = Route(route.path, route.methods, isEmbeddable: true) { head throws(Problem) in
            let known = route.known(head)
            let authorization = try authorize(head, route, known?.authorization)
            return charging(authorization, head, try route.answer(head, authorization, known))
        }
        guarded.accepts = route.accepts
        guarded.origins = route.origins
        return guarded
    }

    /// - Parameter known: the authorization of an earlier request for the same target, which had no admin token.
    private func authorize(
        _ head: RequestHead, _ route: AuthorizedRoute, _ known: Authorization?
    ) throws(Problem) -> Authorization {
        var authorization = if let known { known } else { try authorization(of: head, route) }
        try requireAuthorized(authorization.requireCurrent(at: configuration.now()))
        authorization.client = configuration.access.client(of: authorization.key, address: head.clientName)
        if !authorization.isAdmin { try requireAdmission(of: authorization) }
        guard head.via.map({ !HTTPFields.via($0, contains: configuration.viaPseudonym) }) ?? true else { throw .loop }
        return authorization
    }

    private func authorization(of head: RequestHead, _ route: AuthorizedRoute) throws(Problem) -> Authorization {
        let isAdmin = token?.isPresent(in: head) == true
        if let path = try route.translation(head) {
            return try requireAuthorized(authorizer.authorize(path, isAdmin: isAdmin))
        }
        let query = try route.query(head)
        return try requireAuthorized(
            authorizer.authorize(
                query, path: route.signedPath, presets: route.presets(for: query),
                dialect: route.dialect ?? .darkroom, isAdmin: isAdmin, isOpen: route.isOpen(head)))
    }

    /// A signing key's own rate replaces the server's. The admin token is exempt from both.
    private func requireAdmission(of authorization: Authorization) throws(Problem) {
        if let key = authorization.key, let refusal = accounts[key.id]?.refusal() {
            throw .quotaExceeded(refusal, key: key.id)
        }
        guard let rate = rate(of: authorization), let wait = limiter.admit(authorization.client, rate) else { return }
        throw .rateLimited(rate, wait: wait)
    }

    private func rate(of authorization: Authorization) -> Rate? {
        authorization.key.flatMap { configuration.access.keyRates[$0.id] } ?? configuration.clientLimits.rateLimit
    }

    /// Counts an admitted request once more for each image that it draws, besides marks of the server, because each may
    /// contact an origin.
    func requireAdmission(ofPartsOf request: ImageRequest, _ authorization: Authorization) throws(Problem) {
        let sources = Set(request.parts.filter { !$0.isTrusted }.map(\.source).filter { $0.scheme != .color })
        guard !sources.isEmpty, !authorization.isAdmin, let rate = rate(of: authorization),
            let wait = limiter.admit(authorization.client, rate, further: sources.count)
        else { return }
        throw .rateLimited(rate, wait: wait)
    }

    /// The account that the work for a request is charged to; nil = none.
    func account(of authorization: Authorization) -> KeyAccount? { authorization.key.flatMap { accounts[$0.id] } }

    /// The answer, whose body is charged to the key that signed the request.
    private func charging(_ authorization: Authorization, _ head: RequestHead, _ answer: Answer) -> Answer {
        guard let account = account(of: authorization), head.method != .head else { return answer }
        switch answer {
        case .now(let reply):
            account.charge(egressBytes: reply.body.readableBytes)
            return answer
        case .later(let respond):
            return .later { request, context async throws(Problem) in
                let response = try await respond(request, context)
                account.charge(egressBytes: response.body.contentLength ?? 0)
                return response
            }
        }
    }
}

// MARK: Images

extension Gate {
    /// Throws if the server does not disclose the details that a query asks for.
    func requireDisclosable(_ query: ImageQuery) throws(Problem) {
        guard configuration.allowGPS || !query.includesPosition else { throw .gpsNotAllowed }
    }

    /// Throws if the key that signed the request does not allow the sources of an image.
    func requireSources(of request: ImageRequest, _ authorization: Authorization) throws(Problem) {
        try requireAuthorized(authorization.requireSources(of: request))
    }

    /// A mode that contacts the origin requires permission. `Cache-Control` directives that do the same are passed on,
    /// and the pipeline ignores them without permission, because every browser sends them on reload.
    func cachePolicy(
        _ mode: CacheMode, _ head: RequestHead?, _ authorization: Authorization
    ) throws(Problem) -> RequestCachePolicy {
        guard authorization.isAdmin || !mode.forcesOriginRequest else { throw .refreshNotAllowed(mode) }
        let fields = head.flatMap { $0.isPlain ? nil : $0.fields(.cacheControl, .pragma) }
        return RequestCachePolicy(
            mode: mode, directives: fields.map(RequestDirectives.init) ?? RequestDirectives(),
            allowsForcedRefresh: authorization.isAdmin)
    }
}

extension Problem {
    fileprivate static func rateLimited(_ rate: Rate, wait: Duration) -> Problem {
        Problem(
            .rateLimited, "A client may send \(rate), and this client has exceeded that.",
            retryAfterSeconds: wait.secondsToWait)
    }

    fileprivate static func quotaExceeded(_ refusal: KeyAccount.Refusal, key: String) -> Problem {
        let amount =
            switch refusal.kind {
            case .processor: "\(Self.number(refusal.allowance.amount)) seconds of image processing"
            case .egress: "\(Self.number(refusal.allowance.amount)) bytes of responses"
            }
        return Problem(
            .quotaExceeded,
            "The key '\(key)' has used more than its quota of \(amount) in \(refusal.allowance.period.text).",
            retryAfterSeconds: refusal.wait.secondsToWait)
    }

    /// Amounts are whole unless they are less than a second.
    private static func number(_ amount: Double) -> String { Int(exactly: amount).map { "\($0)" } ?? "\(amount)" }
}

extension Duration {
    /// The seconds to wait until this time has passed, at least 1.
    fileprivate var secondsToWait: Int { max(1, Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0)) }

    /// The period of a quota, such as `an hour`.
    fileprivate var text: String {
        switch self {
        case .seconds(60): "a minute"
        case .seconds(3600): "an hour"
        case .seconds(86_400): "a day"
        default: "\(components.seconds) seconds"
        }
    }
}

/// A route that answers only requests with an ``Authorization``. Only a ``Gate`` turns it into a ``Route``.
struct AuthorizedRoute: Sendable {
    /// Called with the target's meaning if it is known.
    typealias Ask = @Sendable (RequestHead, Authorization, KnownTarget?) throws(Problem) -> Answer

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

extension Route {
    /// The route for operators: it requires the token if one is set. Without a token, administration is open on the
    /// admin listener and denied elsewhere. If there is an admin listener, others say so.
    func administrative(_ configuration: WebConfiguration, on listener: Listener) -> Route {
        let token = configuration.adminToken.map(AdminToken.init)
        let isElsewhere = listener == .main && configuration.adminAddress != nil
        return Route(path, methods) { head throws(Problem) in
            guard !isElsewhere else { throw .administrationElsewhere }
            if let token {
                guard token.isPresent(in: head) else { throw .adminTokenWrong }
            } else if listener != .admin {
                throw .adminDisabled
            }
            return try answer(head)
        }
    }
}

/// The operator's bearer token. Only its hash is kept in memory.
struct AdminToken: Sendable {
    private let digest: SHA256.Digest

    init(_ token: String) {
        digest = Self.hash(token.utf8)
    }

    /// Whether the request has the token as `Authorization: Bearer` (RFC 6750 §2.1). Hashes are compared, and
    /// swift-crypto compares digests in constant time, so timing reveals nothing about the token.
    func isPresent(in head: RequestHead) -> Bool {
        guard !head.isPlain, let credentials = head[.authorization], let blank = credentials.firstIndex(of: " "),
            credentials[..<blank].lowercased() == "bearer"
        else { return false }
        return Self.hash(credentials[blank...].drop { $0 == " " }.utf8) == digest
    }

    private static func hash(_ bytes: some Sequence<UInt8>) -> SHA256.Digest { SHA256.hash(data: Array(bytes)) }
}
