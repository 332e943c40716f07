import Crypto
import Foundation

extension EdgeAPI {
    /// Posts each purge to a webhook, signed as Standard Webhooks says:
    /// https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
    static let webhook = EdgeAPI(needsSecret: true, maxPurges: 1, maxTagBytes: .max) { edge, message in
        guard let purge = message.purges.first else { return EdgeRequest(method: "POST", url: edge.url) }
        let body = Webhook.Message(purge, round: message.round).json
        let id = "\(purge.id)_\(message.round)"
        let seconds = "\(Int(message.now.timeIntervalSince1970))"
        return EdgeRequest(
            method: "POST", url: edge.url,
            fields: [
                ("Content-Type", "application/json"), ("webhook-id", id), ("webhook-timestamp", seconds),
                ("webhook-signature", Webhook.signature(of: "\(id).\(seconds).\(body)", secret: message.secret)),
            ], body: body)
    }
}

/// Bodies and signatures of webhooks.
enum Webhook {
    /// The body. A change that breaks receivers gets another version.
    struct Message: Encodable {
        struct Purge: Encodable {
            let version = 1
            let id: String
            let selector: String
            let value: String?
            let tags: [String]
            let soft: Bool
            let round: Int
        }

        let type = "darkroom.purge"
        let timestamp: String
        let data: Purge

        init(_ purge: EdgePurge, round: Int) {
            timestamp = purge.purgedAt.formatted(.iso8601)
            data = Purge(
                id: purge.id, selector: purge.selector.kind.rawValue, value: purge.selector.value, tags: purge.tags,
                soft: purge.isSoft, round: round)
        }
    }

    /// `v1,` and the HMAC-SHA256 in Base64.
    static func signature(of text: String, secret: String) -> String {
        let key = SymmetricKey(data: key(of: secret) ?? Data(secret.utf8))
        let code = HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key)
        return "v1,\(Data(code).base64EncodedString())"
    }

    /// The key that a secret stands for: `whsec_` and its Base64; nil for anything else.
    static func key(of secret: String) -> Data? {
        guard secret.hasPrefix("whsec_") else { return nil }
        return Data(base64Encoded: String(secret.dropFirst(6)))
    }
}

extension EdgeDestination {
    /// Why the text of a destination's file, without white space at both ends, cannot be its token or secret; nil if it
    /// can. The text is not repeated.
    package func flaw(ofSecret secret: String) -> String? {
        guard (1...4096).contains(secret.utf8.count), secret.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            return "the file must have a token of printable ASCII characters without spaces."
        }
        guard vendor == .webhook else { return nil }
        return Webhook.key(of: secret).map { (24...64).contains($0.count) } == true
            ? nil : "the file must have whsec_ and the Base64 of 24 to 64 random bytes."
    }
}
