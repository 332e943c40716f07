import Crypto
import HTTPTypes

/// The secret that lets a request do what costs others something. Only its hash is kept.
struct AdminToken: Sendable {
    private let digest: SHA256.Digest

    init(_ token: String) {
        digest = Self.hash(token.utf8)
    }

    /// Whether the fields carry it as `Authorization: Bearer` (RFC 6750 §2.1). How long the answer takes tells nothing
    /// about the token: hashes are compared, and swift-crypto compares those in constant time.
    func isCarried(by fields: HTTPFields) -> Bool {
        guard let credentials = fields[.authorization], let blank = credentials.firstIndex(of: " "),
            credentials[..<blank].lowercased() == "bearer"
        else { return false }
        return Self.hash(credentials[blank...].drop { $0 == " " }.utf8) == digest
    }

    private static func hash(_ bytes: some Sequence<UInt8>) -> SHA256.Digest { SHA256.hash(data: Array(bytes)) }
}
