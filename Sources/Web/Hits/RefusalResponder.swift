import DarkroomDialects
import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import Foundation
import HTTPTypes
import Hummingbird

/// Refuses requests of `/image`, and of the paths of another service, on the event loop while the pixel queue is full.
///
/// The query is read by the same authorizer and grammar as at the endpoint, and the pipeline decides. A request with
/// any other problem, or that is perhaps not refused, is left to the endpoint.
struct RefusalResponder: FastResponder {
    let endpoint: ImageEndpoint
    let rateLimit: RateLimit
    let imageMetrics: ImageMetrics
    /// The routes of the server, which distinguish its own paths from paths of another service.
    let routes: RouteTable
    /// The metrics of the routes whose requests may be refused here, by route.
    let routeMetrics: [String: RouteMetrics]
    /// Whether requests may be refused at the moment.
    let mayRefuse: @Sendable () -> Bool
    /// The error of a request that is refused; nil if the endpoint has to decide.
    let refusal: @Sendable (ImageRequest, _ isAdmitted: () -> Bool) -> PipelineError?
    private let authorizer: Authorizer

    init(
        endpoint: ImageEndpoint, rateLimit: RateLimit, imageMetrics: ImageMetrics, routes: RouteTable,
        requestMetrics: RequestMetrics, mayRefuse: @escaping @Sendable () -> Bool,
        refusal: @escaping @Sendable (ImageRequest, _ isAdmitted: () -> Bool) -> PipelineError?
    ) {
        self.endpoint = endpoint
        self.rateLimit = rateLimit
        self.imageMetrics = imageMetrics
        self.routes = routes
        let paths = [ImageEndpoint.path] + (endpoint.configuration.pathDialect?.routes ?? [])
        self.routeMetrics = Dictionary(paths.map { ($0, requestMetrics.of(route: $0)) }) { first, _ in first }
        self.mayRefuse = mayRefuse
        self.refusal = refusal
        authorizer = Authorizer(endpoint.configuration)
    }

    func response(to request: FastRequest) -> FastResponse? {
        // The endpoint answers requests for pages.
        guard mayRefuse(), !acceptsPage(request.accept), !request.passed(endpoint.configuration.viaPseudonym),
            let route = routes.route(of: String(request.target.prefix { $0 != "?" })),
            let metrics = routeMetrics[route], let (query, authorization) = query(of: request, at: route),
            let imageRequest = try? endpoint.imageRequest(query, of: request.imageFields, authorization),
            let error = refusal(imageRequest, { rateLimit.admits(authorization) })
        else { return nil }
        imageMetrics.recordFailure()
        let problem = endpoint.problem(error, of: query)
        var fields = problem.headerFields
        fields.varyByPage()
        fields.permitEmbedding()
        endpoint.configuration.access.origins.apply(to: &fields, origin: request.origin)
        fields[.date] = HTTPDate(Date()).description
        return FastResponse(
            status: problem.kind.status.code, head: .head(problem.kind.status, fields), content: .problem(problem),
            details: AccessLogDetails(imageRequest.source, as: endpoint.configuration.logSources, error: error),
            metrics: metrics)
    }

    private func query(of request: FastRequest, at route: String) -> (ImageQuery, Authorization)? {
        let hints = endpoint.clientHints([:])
        if hints != nil, request.hasSizeHints { return nil }
        guard request.target.utf8.count <= Request.maxTargetBytes, !request.target.utf8.contains(UInt8(ascii: "#")),
            var authorization = authorization(of: request.target, at: route), authorization.canonicalTarget == nil,
            let query = try? endpoint.grammar.parse(authorization.query, hints: hints),
            endpoint.configuration.allowGPS || !query.includesPosition
        else { return nil }
        authorization.client = endpoint.configuration.access.client(of: authorization.key, address: request.clientName)
        return (query, authorization)
    }

    private func authorization(of target: String, at route: String) -> Authorization? {
        guard route == ImageEndpoint.path else {
            let configuration = endpoint.configuration
            guard let path = try? configuration.pathDialect?.translate(target[...], limits: configuration.limits) else {
                return nil
            }
            return try? authorizer.authorize(path, isAdmin: false)
        }
        let text = target.utf8.drop { $0 != UInt8(ascii: "?") }.dropFirst()
        guard let parameters = try? QueryString(parsing: String(Substring(text))),
            // Queries in another dialect have other rules.
            Dialect.of(parameters, standard: endpoint.grammar.dialect) == .darkroom
        else { return nil }
        return try? authorizer.authorize(
            parameters, path: ImageEndpoint.path, presets: .accepted, dialect: endpoint.grammar.dialect, isAdmin: false)
    }
}

extension FastRequest {
    /// Whether the request has passed through a server of this pseudonym.
    func passed(_ pseudonym: String) -> Bool { via.map { HTTPFields.via($0, contains: pseudonym) } ?? false }

    /// The header fields that affect an image.
    fileprivate var imageFields: HTTPFields {
        var fields = HTTPFields()
        fields[.accept] = accept
        fields[.priority] = priority
        fields[.saveData] = saveData
        return fields
    }
}
