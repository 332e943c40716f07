import DarkroomDialects
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import DarkroomRequests
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// `GET /image`, `GET /` and `GET /info`: the way of a request from the query to the answer.
struct ImageEndpoint: Sendable {
    let configuration: WebConfiguration
    let gate: Gate
    private(set) var grammar: ImageQueryGrammar
    /// Finds or produces the image.
    let image: @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    /// The cache tiers that hold the image.
    let location: @Sendable (ImageRequest) async -> CacheLocation
    /// Says at once what it can of an image.
    var inquiries: Inquiries
    /// The reason to refuse an upload at the moment, before the body is read; nil if it is accepted.
    var refusalOfUpload: @Sendable (ImageRequest) -> PipelineError? = { _ in nil }
    /// The name of a parameter in requests; nil on the paths of other services, which have options instead.
    private var parameterName: @Sendable (String) -> String? = { $0 }
    private let targets = KnownTargets()
    /// Of ``grammar``.
    private var forms = KnownForms()

    /// Questions to a pipeline that it answers without waiting.
    struct Inquiries: Sendable {
        /// Derives the keys of a request.
        let lookup: @Sendable (ImageRequest) -> ImageLookup
        let ask: @Sendable (ImageLookup, _ client: String, Priority) -> Inquired
    }

    static let path = "/image"
    /// The path of images with the parameters of wsrv.nl.
    static let wsrvPath = "/"

    init(
        configuration: WebConfiguration, gate: Gate, inquiries: Inquiries,
        location: @escaping @Sendable (ImageRequest) async -> CacheLocation,
        image: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    ) {
        self.configuration = configuration
        self.gate = gate
        self.inquiries = inquiries
        self.location = location
        self.image = image
        grammar = ImageQueryGrammar(limits: configuration.limits, dialect: configuration.dialect)
    }

    var routes: [AuthorizedRoute] {
        var inPath = AuthorizedRoute(inPath: grammar.dialect, answer: answer)
        inPath.known = known
        return [route(at: Self.path, presets: .accepted, dialect: grammar.dialect), inPath]
    }

    /// The route of images with the parameters of wsrv.nl, which shares its path with the playground.
    var wsrvRoute: AuthorizedRoute {
        var wsrv = self
        wsrv.grammar = ImageQueryGrammar(limits: configuration.limits, dialect: .wsrv)
        wsrv.forms = KnownForms()
        var route = wsrv.route(at: Self.wsrvPath, presets: .accepted, dialect: .wsrv)
        route.accepts = PlaygroundEndpoint.isImage
        route.origins = configuration.access.origins
        return route
    }

    /// The routes of the paths of another service, if the setting `compat` names one.
    var pathRoutes: [AuthorizedRoute] {
        guard let dialect = configuration.pathDialect else { return [] }
        var endpoint = self
        endpoint.parameterName = { _ in nil }
        return dialect.routes.map { [endpoint] path in
            var route = AuthorizedRoute(dialect, at: path, limits: configuration.limits) {
                head, authorization, known throws(Problem) in
                if let target = authorization.canonicalTarget { return redirect(to: target) }
                return try endpoint.answer(head, authorization, known)
            }
            route.known = known
            return route
        }
    }

    /// The redirect of a signed request to its only target: with one signed URL, a client cannot fill caches in front
    /// with copies of an image. Shared caches must not store the redirect either.
    private func redirect(to target: String) -> Answer {
        .later { _, _ in
            Response(
                status: .movedPermanently,
                headers: [.location: configuration.urlPrefix + target, .cacheControl: "private, max-age=3600"])
        }
    }

    /// The route of `/info`, whose grammar has fewer parameters.
    var infoRoutes: [AuthorizedRoute] {
        var info = self
        info.grammar = .info(limits: configuration.limits)
        info.forms = KnownForms()
        return [info.route(at: "/info", presets: .irrelevant)]
    }

    private func route(
        at path: String, presets: Authorizer.PresetUse, dialect: Dialect? = nil
    ) -> AuthorizedRoute {
        var route = AuthorizedRoute(path, presets: presets, dialect: dialect, answer: answer)
        route.known = known
        return route
    }
}

// MARK: Answers

extension ImageEndpoint {
    /// Only a plain request has the same meaning as an earlier one for its target.
    private func known(_ head: RequestHead) -> KnownTarget? { head.isPlain ? targets[head.target] : nil }

    private func answer(
        _ head: RequestHead, _ authorization: Authorization, _ known: KnownTarget?
    ) throws(Problem) -> Answer {
        if let known, let form = form(of: known, for: head) {
            return try answer(head, authorization, known, form, isKnown: true)
        }
        let query =
            if let known { known.query } else {
                try requireValid(parsed(authorization.query, clientHints(head)))
            }
        let request = try imageRequest(query, of: head, authorization)
        let form = KnownTarget.Form(preferences(of: query, head), inquiries.lookup(request))
        let target = KnownTarget(query, authorization, (known?.forms ?? []) + [form])
        return try answer(head, authorization, target, form, isKnown: false)
    }

    private func parsed(_ query: QueryString, _ hints: ClientHints?) throws(InvalidParameter) -> ImageQuery {
        do throws(InvalidParameter) { return try meaning(of: query, hints) } catch {
            guard let name = error.parameter, parameterName(name) == nil else { throw error }
            throw InvalidParameter(nil, "As a query of /image, the path is not valid: \(error.detail)")
        }
    }

    private func meaning(of query: QueryString, _ hints: ClientHints?) throws(InvalidParameter) -> ImageQuery {
        // Few servers use hints, which change the meaning of a form.
        if let hints { return try grammar.parse(query, hints: hints) }
        return try forms.query(query, grammar)
    }

    private func answer(
        _ head: RequestHead, _ authorization: Authorization, _ target: KnownTarget, _ form: KnownTarget.Form,
        isKnown: Bool
    ) throws(Problem) -> Answer {
        // A hit copies neither the query nor the request, which have some thirty parts each.
        switch inquiries.ask(form.lookup, authorization.client, priority(of: target.query, head)) {
        case .found(let image):
            guard !target.query.includesCaching, image.deferredBody == nil else {
                return later(head, authorization, target.query, form.request) { () async throws(PipelineError) in
                    image
                }
            }
            // A miss makes nothing known: most images that are asked for once are never asked for again.
            if head.isPlain, !isKnown { targets.insert(target, for: head.target) }
            return .now(reply(image, head, target, form))
        case .failed(let error):
            try gate.requireAdmission(ofPartsOf: form.request, authorization)
            if head.isPlain, !isKnown { targets.insert(target, for: head.target) }
            guard !target.query.redirectsToSource else {
                return later(head, authorization, target.query, form.request) { () async throws(PipelineError) in
                    throw error
                }
            }
            throw problem(error, head, form.request, target.query, authorization)
        case .refused(let error): throw problem(error, head, form.request, target.query, authorization)
        case .waits(let image):
            try gate.requireAdmission(ofPartsOf: form.request, authorization)
            return later(head, authorization, target.query, form.request, image)
        }
    }

    private func reply(
        _ image: ImageResponse, _ head: RequestHead, _ target: KnownTarget, _ form: KnownTarget.Form
    ) -> Reply {
        // Most answers need nothing of it but what was encoded before.
        func response() -> ImageHTTPResponse {
            ImageHTTPResponse(
                image: image, query: target.query, authorization: target.authorization, configuration: configuration)
        }
        let notModified = head.isConditional && response().isNotModified(head)
        let now = configuration.now()
        let moment = ImageHeads.Moment(image, validity: target.authorization.remaining(at: now), now: now)
        let origins = configuration.access.origins
        let origin = origins.dependsOnOrigin ? head.origin : nil
        func encode(_ heads: inout ImageHeads) -> Reply {
            heads.reply(
                of: image, notModified: notModified, at: moment, ReplySharing(origins, origin: origin),
                details: details(of: form.request, image), response())
        }
        var reply: Reply
        if origin != nil {
            var heads = ImageHeads()
            reply = encode(&heads)
        } else {
            reply = form.heads.withLock { encode(&$0) }
        }
        if !notModified { reply.body = target.query.encodesBase64 ? response().body : image.body }
        return reply
    }

    private func later(
        _ head: RequestHead, _ authorization: Authorization, _ query: ImageQuery, _ imageRequest: ImageRequest,
        _ image: @escaping @Sendable () async throws(PipelineError) -> ImageResponse
    ) -> Answer {
        .later { _, context async throws(Problem) in
            do throws(PipelineError) {
                var response = ImageHTTPResponse(
                    image: try await image(), query: query, authorization: authorization,
                    configuration: configuration)
                context.logDetails = details(of: imageRequest, response.image)
                if query.includesCaching {
                    response.caching = CachingDocument(response.image, await location(imageRequest))
                }
                return response.response(to: head)
            } catch {
                context.logDetails = details(of: imageRequest, error: error)
                if let redirect = redirect(to: imageRequest.source, for: query, head, after: error) { return redirect }
                throw problem(error, head, imageRequest, query, authorization)
            }
        }
    }

    func details(
        of request: ImageRequest, _ image: ImageResponse? = nil, error: PipelineError? = nil
    ) -> AccessLogDetails {
        AccessLogDetails(request.source, as: configuration.logSources, image, error: error)
    }

    private func problem(
        _ error: PipelineError, _ head: RequestHead, _ request: ImageRequest, _ query: ImageQuery,
        _ authorization: Authorization
    ) -> Problem {
        let cause = Problem(error, of: request.source, for: head, configuration, naming: parameterName)
        var problem = varying(cause, by: query)
        if case .notFound(_, let lifetime) = error.cause {
            problem.fields[.cacheControl] = lifetimeOfMissing(
                authorization, stated: lifetime.map { error.rest(of: $0) })
        }
        problem.logged = details(of: request, error: error)
        configuration.tagger?.tag(&problem.fields, ofFailed: request)
        return problem
    }

    /// How long caches may keep that an image is missing, so that a dead link does not ask for each of its visitors.
    ///
    /// - Parameter stated: how long the origin lets them; nil = it does not say.
    private func lifetimeOfMissing(_ authorization: Authorization, stated: Duration?) -> String {
        let longest = min(configuration.missingMaxAge, stated ?? configuration.missingMaxAge)
        guard longest >= .seconds(1) else { return CacheControl.noStore.description }
        let age = min(longest, authorization.remaining(at: configuration.now()) ?? longest)
        return authorization.restricting(CacheControl(.public(maxAge: age))).description
    }

    /// The problem with the fields of the request that it depends on.
    func varying(_ problem: Problem, by query: ImageQuery) -> Problem {
        var problem = problem
        problem.fields[.vary] = configuration.negotiation.vary(of: query)
        return problem
    }
}

// MARK: Requests

extension ImageEndpoint {
    /// The client hints of a request; nil if the server does not use them.
    func clientHints(_ head: RequestHead) -> ClientHints? {
        guard configuration.negotiation.usesClientHints else { return nil }
        return ClientHints(pixelRatio: head[.secCHDPR], width: head[.secCHWidth])
    }

    private func preferences(of query: ImageQuery, _ head: RequestHead?) -> ClientPreferences {
        configuration.negotiation.preferences(of: query, accept: head?.accept, connection: ConnectionHints(head))
    }

    /// The form of a known target; nil if the client is the first of its preferences.
    private func form(of known: KnownTarget, for head: RequestHead) -> KnownTarget.Form? {
        let query = known.query
        let isSlow = query.slowQuality != nil && ConnectionHints(head).isSlow
        return known.form(query.isNegotiated ? head.accept : nil, isSlow: isSlow) { preferences(of: query, head) }
    }

    private func priority(of query: ImageQuery, _ head: RequestHead?) -> Priority {
        query.priority ?? Priority(field: head?.priority)
    }

    /// The pipeline's request for a query and the header fields that affect it.
    ///
    /// - Parameter head: nil = a client that states nothing.
    func imageRequest(
        _ query: ImageQuery, of head: RequestHead?, _ authorization: Authorization
    ) throws(Problem) -> ImageRequest {
        try gate.requireDisclosable(query)
        var request = try requireSource(query.sourceRequest(configuration.sourceMap))
        do throws(Problem) {
            try gate.requireSources(of: request, authorization)
            query.apply(
                to: &request, for: preferences(of: query, head),
                policy: try gate.cachePolicy(query.cache, head, authorization))
        } catch {
            var problem = error
            problem.logged = details(of: request)
            throw problem
        }
        request.placeholders = query.placeholders
        request.acceptsDeferredBody =
            !query.encodesBase64 && !query.includesCaching && request.output.format?.isText != true
        request.client = authorization.client
        request.account = gate.account(of: authorization)
        request.priority = priority(of: query, head)
        return request
    }
}

extension PipelineError {
    /// What is left of the lifetime of an earlier failure; the whole lifetime of a new one.
    fileprivate func rest(of lifetime: Duration) -> Duration {
        if case .remembered(_, let seconds, _) = self { min(lifetime, .seconds(seconds)) } else { lifetime }
    }
}

extension Priority {
    /// The class of the urgency in a `Priority` field (RFC 9218 §4.1): of the eight urgencies, 3 is the default.
    init(field: String?) {
        let requested = field.map(RequestPriority.init(parsing:)) ?? .default
        switch requested.urgency {
        case ...2: self = .high
        case 3...4: self = .normal
        default: self = .low
        }
    }
}
