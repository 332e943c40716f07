import DarkroomQuery
import HummingbirdCore

/// How often each client may ask for what costs work.
struct RateLimit: Sendable {
    private let rate: Rate?
    private let keyRates: [String: Rate]
    private let token: AdminToken?
    private let limiter: RateLimiter

    init(_ configuration: WebConfiguration, limiter: RateLimiter = RateLimiter()) {
        rate = configuration.visitors.rateLimit
        keyRates = configuration.access.keyRates
        token = configuration.adminToken.map(AdminToken.init)
        self.limiter = limiter
    }

    /// The route, for clients that do not ask too often. Whoever carries the admin token may, and a key's own rate stands for that of all.
    func guarding(_ route: AuthorizedRoute) -> AuthorizedRoute {
        var route = route
        route.respond = { [respond = route.respond] request, context, authorization throws(Problem) in
            if let rate = authorization.key.flatMap({ keyRates[$0.id] }) ?? rate,
                token?.isCarried(by: request.headers) != true,
                let wait = limiter.admit(authorization.client, rate)
            {
                throw .rateLimited(rate, wait: wait)
            }
            return try await respond(request, context, authorization)
        }
        return route
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
