import HummingbirdCore

/// How often each client may ask for what costs work.
struct RateLimit: Sendable {
    private let rate: Rate?
    private let token: AdminToken?
    private let limiter: RateLimiter

    init(_ configuration: WebConfiguration, limiter: RateLimiter = RateLimiter()) {
        rate = configuration.rateLimit
        token = configuration.adminToken.map(AdminToken.init)
        self.limiter = limiter
    }

    /// The route, for clients that do not ask too often. Whoever carries the admin token may.
    func guarding(_ route: Route) -> Route {
        guard let rate else { return route }
        return Route(route.path, route.methods) { request, context throws(Problem) in
            if token?.isCarried(by: request.headers) != true, let wait = limiter.admit(context.client, rate) {
                throw .rateLimited(rate, wait: wait)
            }
            return try await route.respond(request, context)
        }
    }
}

extension Problem {
    fileprivate static func rateLimited(_ rate: Rate, wait: Duration) -> Problem {
        let seconds = Int(wait.components.seconds) + (wait.components.attoseconds > 0 ? 1 : 0)
        return Problem(
            .rateLimited, "A client may send \(rate) here, and this one has sent more.",
            retryAfterSeconds: max(1, seconds))
    }
}
