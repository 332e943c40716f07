import Crypto
import DarkroomHTTPServer
import HTTPTypes
import Hummingbird

/// The access control of administrative routes.
enum AdminAccess: Sendable {
    case denied
    /// Only with the token.
    case bearer(AdminToken)
    /// Anyone who can reach the port.
    case open

    /// Requires the token if one is set. Without a token, administration is open on the admin listener and denied
    /// elsewhere.
    init(_ configuration: WebConfiguration, on listener: Listener) {
        if let token = configuration.adminToken {
            self = .bearer(AdminToken(token))
        } else {
            self = listener == .admin ? .open : .denied
        }
    }

    /// The route with this access control.
    func authorizing(_ route: Route) -> Route {
        Route(route.path, route.methods) { request, context throws(Problem) in
            try authorize(request.headers)
            return try await route.respond(request, context)
        }
    }

    private func authorize(_ fields: HTTPFields) throws(Problem) {
        switch self {
        case .denied: throw .adminDisabled
        case .bearer(let token): guard token.isPresent(in: fields) else { throw .adminTokenWrong }
        case .open: break
        }
    }
}

/// The operator's bearer token. Only its hash is kept in memory.
struct AdminToken: Sendable {
    private let digest: SHA256.Digest

    init(_ token: String) {
        digest = Self.hash(token.utf8)
    }

    /// Whether the fields have the token as `Authorization: Bearer` (RFC 6750 §2.1). Hashes are compared, and
    /// swift-crypto compares digests in constant time, so timing reveals nothing about the token.
    func isPresent(in fields: HTTPFields) -> Bool {
        guard let credentials = fields[.authorization], let blank = credentials.firstIndex(of: " "),
            credentials[..<blank].lowercased() == "bearer"
        else { return false }
        return Self.hash(credentials[blank...].drop { $0 == " " }.utf8) == digest
    }

    private static func hash(_ bytes: some Sequence<UInt8>) -> SHA256.Digest { SHA256.hash(data: Array(bytes)) }
}
