import Crypto
import DarkroomNetwork
import Foundation

/// A secret that requests are signed with, and the restrictions of its signatures.
package struct SigningKey: Sendable {
    /// 1 to 32 ASCII letters, digits, hyphens and underscores.
    package let id: String
    /// Patterns of the hosts that sources may have, as in `allow-hosts`; empty = any host.
    package let hosts: [String]
    /// The presets that requests may use; nil = any preset and any parameters.
    package let presets: Set<String>?
    private let secret: SymmetricKey

    /// The part of a key that is invalid.
    package enum Flaw: Error {
        case id, secret
    }

    /// - Parameter secret: At least 32 printable ASCII characters except spaces and commas; their bytes are the key.
    package init(id: String, secret: String, hosts: [String] = [], presets: Set<String>? = nil) throws(Flaw) {
        guard Self.isName(id) else { throw .id }
        let isStrong = secret.utf8.count >= 32 && secret.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x2c }
        guard isStrong else { throw .secret }
        self.id = id
        self.secret = SymmetricKey(data: Array(secret.utf8))
        self.hosts = hosts
        self.presets = presets
    }

    /// Whether its signatures permit any image.
    var isUnrestricted: Bool { hosts.isEmpty && presets == nil }

    /// The HMAC-SHA256 (RFC 2104) of a request.
    package func sign(_ request: SignedRequest) -> Signature { Signature(keyID: id, code: code(of: request.text)) }

    fileprivate func code(of text: String) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: secret))
    }

    /// Whether a key or a preset may have this name, which needs no quoting anywhere.
    static func isName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    }
}

extension SigningKey: Hashable, CustomStringConvertible, CustomReflectable {
    package func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// The ID alone: printing or dumping a key must not reveal its secret.
    package var description: String { id }
    package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}

/// The keys that signatures are verified with.
package struct Keyring: Sendable {
    private let keys: [String: SigningKey]
    /// Replaces an unknown key, so that refusing an unknown ID takes as long as refusing a wrong signature.
    private let decoy: SigningKey?

    package init(_ keys: [SigningKey]) {
        self.keys = Dictionary(keys.map { ($0.id, $0) }) { first, _ in first }
        let secret = SymmetricKey(size: .bits256).withUnsafeBytes { Base64URL.text(of: $0) }
        decoy = try? SigningKey(id: "none", secret: secret)
    }

    /// The text that was signed and the key that signed it; nil for an unknown ID and for a wrong signature alike.
    package func verify(_ request: SignedRequest, by signature: Signature) -> (text: VerifiedText, key: SigningKey)? {
        let key = keys[signature.keyID]
        let signer = key ?? decoy
        let text = VerifiedText.signed([request.text], as: signature.code) { text in
            signer.map { [$0.code(of: text)] } ?? []
        }
        guard let text, let key else { return nil }
        return (text, key)
    }
}
