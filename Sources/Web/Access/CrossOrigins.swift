import HTTPTypes
import Hummingbird

/// The sites whose scripts may read what is answered (CORS, Fetch Standard §3.3).
package enum CORSPolicy: Hashable, Sendable {
    case none
    case all
    /// Each as browsers write it: scheme, host and port, without the port that is standard and without a path.
    case listed(Set<String>)
}

/// Tells browsers which scripts may read the answers of some routes.
struct CORSMiddleware<Context: RequestContext>: RouterMiddleware {
    private let origins: CORSPolicy
    private let routes: RouteTable

    /// - Parameter paths: as their routes spell them.
    init(origins: CORSPolicy, paths: [String]) {
        self.origins = origins
        routes = RouteTable(paths.map { path in Route(path) { _, _ throws(Problem) in throw .noSuchRoute() } })
    }

    func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        var response = try await next(request, context)
        guard origins != .none, routes.route(of: request.uri.path) != nil else { return response }
        if let allowed = allowed(request.headers[.origin]) {
            response.headers[.accessControlAllowOrigin] = allowed
            response.headers[.accessControlExposeHeaders] = Self.exposed
        }
        // Caches must not give one site what names another.
        if case .listed = origins {
            response.headers[.vary] = response.headers[.vary].map { "\($0), Origin" } ?? "Origin"
        }
        return response
    }

    private func allowed(_ origin: String?) -> String? {
        switch origins {
        case .none: nil
        case .all: "*"
        case .listed(let list): origin.flatMap { list.contains($0) ? $0 : nil }
        }
    }

    /// What scripts may read besides what they always may.
    private static var exposed: String {
        [
            "Age", "Cache-Status", "Content-Disposition", "ETag", "Proxy-Status", "Retry-After", "Server-Timing",
            "X-Placeholder-BlurHash", "X-Placeholder-Color", "X-Placeholder-Lqip", "X-Placeholder-ThumbHash",
            "X-Request-Id",
        ].joined(separator: ", ")
    }
}

extension CORSPolicy {
    /// Answers browsers that ask beforehand what they may send (Fetch Standard §4.8): reading, and no credentials.
    func preflights(of routes: [Route]) -> [Route] {
        guard self != .none else { return [] }
        return routes.map { route in
            Route(route.path, [.options]) { _, _ in
                Response(
                    status: .noContent,
                    headers: [
                        .accessControlAllowMethods: "GET, HEAD", .accessControlMaxAge: "86400",
                        .accessControlAllowHeaders:
                            "Cache-Control, If-Modified-Since, If-None-Match, Priority, Traceparent, Tracestate, X-Request-Id",
                    ])
            }
        }
    }
}
