import DarkroomTracing
import HTTPTypes
import Hummingbird
import Logging
import ServiceContextModule
import Tracing

/// The middleware for all requests: it identifies the client, turns errors into problem documents, adds the request id,
/// drops the body of responses to HEAD, and counts and logs each request.
struct RequestMiddleware: RouterMiddleware {
    typealias Context = ServerRequestContext

    let routes: RouteTable
    let observers: RequestObservers
    let proxies: TrustedProxies
    var problemBase = ""

    func handle(
        _ request: Request, context: ServerRequestContext,
        next: (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.adoptRequestID(from: request.headers)
        let peer = context.clientAddress
        context.identifyClient(trusting: proxies, request.headers)
        var service = ServiceContext(
            request.headers, requestID: context.requestID, instrument: observers.instrument)
        let span = observers.tracing?.begin(&service, isTrusted: peer.map(proxies.contain) ?? false)
        return try await ServiceContext.withValue(service) {
            try await respond(request, context: context, span, next: next)
        }
    }

    private func respond(
        _ request: Request, context: ServerRequestContext, _ span: RequestSpan?,
        next: (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        observers.state.beginRequest()
        defer { observers.state.endRequest() }
        var response: Response
        var kind: ProblemKind?
        do {
            response = try await next(request, context)
        } catch {
            let problem = isShutDown ? .shutDown : problem(error, request, context)
            kind = problem.kind
            observers.metrics.record(problem.kind)
            response =
                request.headers.prefersPage
                ? problem.page(requestID: context.requestID)
                : problem.response(requestID: context.requestID, base: problemBase)
            response.headers.varyByPage()
        }
        let (duration, details) = (start.duration(to: .now), context.logDetails)
        let route = routes.route(of: request.uri.path)
        let path = RouteTable.logged(request.uri.path, of: route)
        observers.metrics.of(route: route).record(
            status: response.status.code, request.method, cache: .init(status: response.headers[.cacheStatus]),
            took: duration)
        response.headers[.requestID] = context.requestID
        response.headers.addBrowserProtection(
            isEmbeddable: response.status.code >= 300 && routes.isEmbeddable(route))
        let bytes = request.method == .head ? 0 : response.body.contentLength
        if request.method == .head { response = response.createHeadResponse() }
        observers.record(
            AccessLogEntry(
                method: request.method.rawValue, path: path, status: response.status.code, bytes: bytes,
                duration: duration, requestID: context.requestID, traceID: ServiceContext.current?.trace?.traceID,
                client: context.clientAddress, cacheStatus: response.headers[.cacheStatus], problem: kind?.slug,
                details: details, isDisconnected: Task.isCancelled && !isShutDown),
            isHit: details.isHit, took: duration, route: route, span)
        return response
    }

    /// Whether the end of the grace period canceled the request, rather than its client.
    private var isShutDown: Bool { Task.isCancelled && observers.state.isGraceOver }

    private func problem(_ error: any Error, _ request: Request, _ context: ServerRequestContext) -> Problem {
        if let problem = error as? Problem { return problem }
        if let error = error as? any HTTPResponseError, error.status == .notFound {
            guard let route = routes.route(of: request.uri.path) else { return .noSuchRoute }
            return .methodNotAllowed(request.method, allow: routes.methods(of: route))
        }
        observers.logger.error(
            "unexpected error", metadata: ["error": "\(error)", "request-id": "\(context.requestID)"])
        return .internalError
    }
}
