import Crypto
import DarkroomHTTPServer
import HTTPTypes

extension Route {
    /// The route for operators: it requires the token if one is set. Without a token, administration is open on the
    /// admin listener and denied elsewhere.
    func administrative(_ configuration: WebConfiguration, on listener: Listener) -> Route {
        let token = configuration.adminToken.map(AdminToken.init)
        return Route(path, methods) { head throws(Problem) in
            if let token {
                guard token.isPresent(in: head) else { throw .adminTokenWrong }
            } else if listener != .admin {
                throw .adminDisabled
            }
            return try answer(head)
        }
    }
}

/// The operator's bearer token. Only its hash is kept in memory.
struct AdminToken: Sendable {
    private let digest: SHA256.Digest

    init(_ token: String) {
        digest = Self.hash(token.utf8)
    }

    /// Whether the request has the token as `Authorization: Bearer` (RFC 6750 §2.1). Hashes are compared, and
    /// swift-crypto compares digests in constant time, so timing reveals nothing about the token.
    func isPresent(in head: RequestHead) -> Bool {
        guard !head.isPlain, let credentials = head[.authorization], let blank = credentials.firstIndex(of: " "),
            credentials[..<blank].lowercased() == "bearer"
        else { return false }
        return Self.hash(credentials[blank...].drop { $0 == " " }.utf8) == digest
    }

    private static func hash(_ bytes: some Sequence<UInt8>) -> SHA256.Digest { SHA256.hash(data: Array(bytes)) }
}
