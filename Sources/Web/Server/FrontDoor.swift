import HTTPTypes
import Hummingbird
import Logging
import ServiceContextModule
import Tracing

/// What every request passes, whatever its path: each failure becomes a problem, each answer gets its request id, HEAD
/// loses the body, and it is counted and logged.
struct RequestMiddleware: RouterMiddleware {
    typealias Context = ServerRequestContext

    let routes: RouteTable
    let meter: RequestMetrics
    let serverState: ServerState
    let proxies: TrustedProxies
    let logger: Logger
    private let log: AccessLog
    private let instrument: any Instrument

    /// - Parameters:
    ///   - proxies: believed when they say for whom they ask.
    ///   - instrument: takes over the traces that requests belong to.
    init(
        routes: RouteTable, observability: Observability, proxies: TrustedProxies = TrustedProxies(networks: []),
        logger: Logger,
        instrument: any Instrument = InstrumentationSystem.instrument
    ) {
        self.routes = routes
        meter = RequestMetrics(observability.metrics)
        serverState = observability.serverState
        self.proxies = proxies
        self.logger = logger
        log = AccessLog(logger: logger)
        self.instrument = instrument
    }

    func handle(
        _ request: Request, context: ServerRequestContext, next: (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        var context = context
        context.takeOverID(from: request.headers)
        context.identify(behind: proxies, request.headers)
        let service = ServiceContext(request.headers, requestID: context.requestID, by: instrument)
        return try await ServiceContext.withValue(service) { try await answer(request, context: context, next: next) }
    }

    private func answer(
        _ request: Request, context: ServerRequestContext, next: (Request, ServerRequestContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        serverState.begin()
        defer { serverState.end() }
        var response: Response
        do {
            response = try await next(request, context)
        } catch {
            let problem = problem(error, request, context)
            meter.note(problem.kind)
            response = problem.response(requestID: context.requestID)
        }
        meter.note(
            response.status, request.method, route: routes.route(of: request.uri.path), took: start.duration(to: .now))
        response.headers[.requestID] = context.requestID
        response.headers.protectBrowsers()
        let bytes = request.method == .head ? 0 : response.body.contentLength
        if request.method == .head { response = response.createHeadResponse() }
        log.note(request, response, bytes: bytes, took: start.duration(to: .now), context)
        return response
    }

    private func problem(_ error: any Error, _ request: Request, _ context: ServerRequestContext) -> Problem {
        if let problem = error as? Problem { return problem }
        if let error = error as? any HTTPResponseError, error.status == .notFound {
            guard let route = routes.route(of: request.uri.path) else { return .noSuchRoute() }
            return .methodNotAllowed(request.method, allow: routes.methods(of: route))
        }
        logger.error("unexpected error", metadata: ["error": "\(error)", "request-id": "\(context.requestID)"])
        return .internalError
    }
}
