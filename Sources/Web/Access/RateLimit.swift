import DarkroomHTTPServer
import DarkroomQuery
import HTTPTypes
import Hummingbird

/// The limits of routes that cost work: the rates of clients, and the quotas of signing keys.
struct RateLimit: Sendable {
    private let rate: Rate?
    private let keyRates: [String: Rate]
    private let token: AdminToken?
    private let limiter: RateLimiter
    /// The accounts of signing keys, by key ID.
    private let accounts: [String: KeyAccount]

    init(_ configuration: WebConfiguration, limiter: RateLimiter) {
        rate = configuration.clientLimits.rateLimit
        keyRates = configuration.access.keyRates
        token = configuration.adminToken.map(AdminToken.init)
        self.limiter = limiter
        accounts = configuration.accounts.accounts(of: configuration.access)
    }

    /// The route with these limits. The admin token is exempt, and a signing key's own rate replaces the server's. The
    /// body of the response is charged to the key.
    func limiting(_ route: AuthorizedRoute) -> AuthorizedRoute {
        var route = route
        route.respond = { [respond = route.respond] request, context, authorization throws(Problem) in
            if token?.isPresent(in: request.headers) != true { try requireAdmission(of: authorization) }
            let response = try await respond(request, context, authorization)
            let bytes = request.method == .head ? 0 : response.body.contentLength ?? 0
            charge(egressBytes: bytes, to: authorization.key)
            return response
        }
        return route
    }

    private func requireAdmission(of authorization: Authorization) throws(Problem) {
        if let key = authorization.key, let refusal = accounts[key.id]?.refusal() {
            throw .quotaExceeded(refusal, key: key.id)
        }
        guard let rate = rate(of: authorization.key), let wait = limiter.admit(authorization.client, rate) else {
            return
        }
        throw .rateLimited(rate, wait: wait)
    }

    /// Whether the client may send a request, which counts. A refused request is counted where it is answered.
    func admits(_ authorization: Authorization) -> Bool {
        if let key = authorization.key, accounts[key.id]?.admits == false { return false }
        return rate(of: authorization.key).map { limiter.admit(authorization.client, $0) == nil } ?? true
    }

    /// Charges the body of a response to the key that signed the request, if any.
    func charge(egressBytes: Int, to key: SigningKey?) {
        guard let key else { return }
        accounts[key.id]?.charge(egressBytes: egressBytes)
    }

    /// The rate of requests signed with this key; nil = of unsigned requests.
    private func rate(of key: SigningKey?) -> Rate? { key.flatMap { keyRates[$0.id] } ?? rate }
}

extension Problem {
    fileprivate static func rateLimited(_ rate: Rate, wait: Duration) -> Problem {
        Problem(
            .rateLimited, "A client may send \(rate), and this client has exceeded that.",
            retryAfterSeconds: wait.secondsToWait)
    }

    fileprivate static func quotaExceeded(_ refusal: KeyAccount.Refusal, key: String) -> Problem {
        let amount =
            switch refusal.kind {
            case .processor: "\(Self.number(refusal.allowance.amount)) seconds of image processing"
            case .egress: "\(Self.number(refusal.allowance.amount)) bytes of responses"
            }
        return Problem(
            .quotaExceeded,
            "The key '\(key)' has used more than its quota of \(amount) in \(refusal.allowance.period.text).",
            retryAfterSeconds: refusal.wait.secondsToWait)
    }

    /// Amounts are whole unless they are less than a second.
    private static func number(_ amount: Double) -> String { Int(exactly: amount).map { "\($0)" } ?? "\(amount)" }
}

extension Duration {
    /// The seconds to wait until this time has passed, at least 1.
    fileprivate var secondsToWait: Int { max(1, Int(components.seconds) + (components.attoseconds > 0 ? 1 : 0)) }

    /// The period of a quota, such as `an hour`.
    fileprivate var text: String {
        switch self {
        case .seconds(60): "a minute"
        case .seconds(3600): "an hour"
        case .seconds(86_400): "a day"
        default: "\(components.seconds) seconds"
        }
    }
}
