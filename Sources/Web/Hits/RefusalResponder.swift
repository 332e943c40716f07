import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomQuery
import Foundation
import HTTPTypes
import Hummingbird

/// Refuses requests of `/image` on the event loop while the pixel queue has no room for them.
///
/// The query is read by the same authorizer and grammar as at the endpoint, and the decision is the pipeline's. A
/// request with any other problem, or that is perhaps not refused, is left to the endpoint.
struct RefusalResponder: FastResponder {
    let endpoint: ImageEndpoint
    let rateLimit: RateLimit
    let imageMetrics: ImageMetrics
    let routeMetrics: RouteMetrics
    /// Whether requests may be refused at the moment.
    let mayRefuse: @Sendable () -> Bool
    /// The error of a request that is refused; nil if the endpoint has to decide.
    let refusal: @Sendable (ImageRequest, _ isAdmitted: () -> Bool) -> PipelineError?
    private let authorizer: Authorizer

    init(
        endpoint: ImageEndpoint, rateLimit: RateLimit, imageMetrics: ImageMetrics, routeMetrics: RouteMetrics,
        mayRefuse: @escaping @Sendable () -> Bool,
        refusal: @escaping @Sendable (ImageRequest, _ isAdmitted: () -> Bool) -> PipelineError?
    ) {
        self.endpoint = endpoint
        self.rateLimit = rateLimit
        self.imageMetrics = imageMetrics
        self.routeMetrics = routeMetrics
        self.mayRefuse = mayRefuse
        self.refusal = refusal
        authorizer = Authorizer(endpoint.configuration)
    }

    func response(to request: FastRequest) -> FastResponse? {
        // Pages are made elsewhere.
        guard mayRefuse(), !acceptsPage(request.accept), !request.passed(endpoint.configuration.viaPseudonym),
            let (query, authorization) = query(of: request),
            let imageRequest = try? endpoint.imageRequest(query, of: request.imageFields, authorization),
            let error = refusal(imageRequest, { rateLimit.admits(authorization) })
        else { return nil }
        imageMetrics.recordFailure()
        return response(
            with: endpoint.problem(error, of: query),
            AccessLogDetails(imageRequest.source, as: endpoint.configuration.logSources, error: error), to: request)
    }

    private func query(of request: FastRequest) -> (ImageQuery, Authorization)? {
        let hints = endpoint.clientHints([:])
        if hints != nil, request.hasSizeHints { return nil }
        let prefix = ImageEndpoint.path + "?"
        guard request.target.utf8.starts(with: prefix.utf8), request.target.utf8.count <= Request.maxTargetBytes,
            !request.target.utf8.contains(UInt8(ascii: "#")),
            let parameters = try? QueryString(
                parsing: String(Substring(request.target.utf8.dropFirst(prefix.utf8.count)))),
            // Queries in another dialect have other rules.
            Dialect.of(parameters, standard: endpoint.grammar.dialect) == .darkroom,
            var authorization = try? authorizer.authorize(
                parameters, path: ImageEndpoint.path, presets: .accepted, isAdmin: false),
            let query = try? endpoint.grammar.parse(authorization.query, hints: hints),
            endpoint.configuration.allowGPS || !query.includesPosition
        else { return nil }
        authorization.client = endpoint.configuration.access.client(of: authorization.key, address: request.clientName)
        return (query, authorization)
    }

    private func response(
        with problem: Problem, _ details: AccessLogDetails, to request: FastRequest
    ) -> FastResponse {
        var fields = problem.headerFields
        fields.varyByPage()
        endpoint.configuration.access.origins.apply(to: &fields, origin: request.origin)
        fields[.date] = HTTPDate(Date()).description
        return FastResponse(
            status: problem.kind.status.code, head: .head(problem.kind.status, fields), content: .problem(problem),
            details: details, metrics: routeMetrics)
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
