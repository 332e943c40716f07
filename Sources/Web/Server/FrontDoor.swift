import HTTPTypes
import Hummingbird
import Logging

/// What every request passes, whatever its path: each failure becomes a problem, each answer gets its request id, HEAD
/// loses the body, and it is counted and logged.
struct FrontDoor: RouterMiddleware {
    typealias Context = WebContext

    let routes: RouteTable
    let meter: RequestMeter
    let traffic: Traffic
    let logger: Logger

    init(routes: RouteTable, instruments: Instruments, logger: Logger) {
        self.routes = routes
        meter = RequestMeter(instruments.metrics)
        traffic = instruments.traffic
        self.logger = logger
    }

    func handle(
        _ request: Request, context: WebContext, next: (Request, WebContext) async throws -> Response
    ) async throws -> Response {
        let start = ContinuousClock.now
        var context = context
        context.takeOverID(from: request.headers)
        traffic.begin()
        defer { traffic.end() }
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
        let bytes = response.body.contentLength ?? 0
        if request.method == .head { response = response.createHeadResponse() }
        log(request, response, bytes: request.method == .head ? 0 : bytes, since: start, context)
        return response
    }

    private func problem(_ error: any Error, _ request: Request, _ context: WebContext) -> Problem {
        if let problem = error as? Problem { return problem }
        if let error = error as? any HTTPResponseError, error.status == .notFound {
            guard let route = routes.route(of: request.uri.path) else { return .noSuchRoute() }
            return .methodNotAllowed(request.method, allow: routes.methods(of: route))
        }
        logger.error("unexpected error", metadata: ["error": "\(error)", "request-id": "\(context.requestID)"])
        return .internalError
    }

    /// Queries stay out of it: they hold source URLs, and those hold tokens.
    private func log(
        _ request: Request, _ response: Response, bytes: Int, since start: ContinuousClock.Instant,
        _ context: WebContext
    ) {
        guard logger.logLevel <= .info else { return }
        var metadata: Logger.Metadata = [
            "method": "\(request.method.rawValue)", "path": "\(request.uri.path)",
            "status": "\(response.status.code)", "bytes": "\(bytes)",
            "duration-ms": "\(start.duration(to: .now).milliseconds)", "request-id": "\(context.requestID)",
        ]
        if let cache = response.headers[.cacheStatus] { metadata["cache"] = "\(cache)" }
        // The answer then reached nobody.
        if Task.isCancelled { metadata["disconnected"] = "true" }
        logger.info("request", metadata: metadata)
    }
}
