import DarkroomHTTPServer
import DarkroomQuery
import HTTPTypes
import Hummingbird

/// The rate limit of routes that cost work.
struct RateLimit: Sendable {
    private let rate: Rate?
    private let keyRates: [String: Rate]
    private let token: AdminToken?
    private let limiter: RateLimiter

    init(_ configuration: WebConfiguration, limiter: RateLimiter) {
        rate = configuration.clientLimits.rateLimit
        keyRates = configuration.access.keyRates
        token = configuration.adminToken.map(AdminToken.init)
        self.limiter = limiter
    }

    /// The route with this limit. The admin token is exempt, and a signing key's own rate replaces the server's.
    func limiting(_ route: AuthorizedRoute) -> AuthorizedRoute {
        var route = route
        route.respond = { [respond = route.respond] request, context, authorization throws(Problem) in
            if let rate = rate(of: authorization.key),
                token?.isPresent(in: request.headers) != true,
                let wait = limiter.admit(authorization.client, rate)
            {
                throw .rateLimited(rate, wait: wait)
            }
            return try await respond(request, context, authorization)
        }
        return route
    }

    /// Counts a request without the admin token.
    ///
    /// - Returns: whether the client may send it.
    func admits(_ authorization: Authorization) -> Bool {
        rate(of: authorization.key).map { limiter.admit(authorization.client, $0) == nil } ?? true
    }

    /// The rate of requests signed with this key; nil = of unsigned requests.
    private func rate(of key: SigningKey?) -> Rate? { key.flatMap { keyRates[$0.id] } ?? rate }
}

extension Problem {
    fileprivate static func rateLimited(_ rate: Rate, wait: Duration) -> Problem {
        let seconds = Int(wait.components.seconds) + (wait.components.attoseconds > 0 ? 1 : 0)
        return Problem(
            .rateLimited, "A client may send \(rate), and this client has exceeded that.",
            retryAfterSeconds: max(1, seconds))
    }
}
