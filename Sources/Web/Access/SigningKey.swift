import Crypto
package import DarkroomHTTPServer
import Foundation

/// A secret that requests are signed with, and what its signatures may ask for.
package struct SigningKey: Sendable {
    /// 1 to 32 letters, digits, hyphens and underscores of ASCII.
    package let id: String
    /// Patterns of the hosts that may be asked, as in `allow-hosts`; empty = any.
    package let hosts: [String]
    /// The presets that pictures may be made by; nil = any, and any other parameters.
    package let presets: Set<String>?
    /// How often its signatures may be used, all together; nil = nothing is said.
    package let rate: Rate?
    private let secret: SymmetricKey

    /// What a key can't be made of.
    package enum Flaw: Error {
        case id
        case secret
    }

    /// - Parameter secret: at least 32 printable characters of ASCII without blanks and commas; their bytes are the key as they are.
    package init(
        id: String, secret: String, hosts: [String] = [], presets: Set<String>? = nil, rate: Rate? = nil
    ) throws(Flaw) {
        guard Self.isName(id) else { throw .id }
        let isStrong = secret.utf8.count >= 32 && secret.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != 0x2c }
        guard isStrong else { throw .secret }
        self.id = id
        self.secret = SymmetricKey(data: Array(secret.utf8))
        self.hosts = hosts
        self.presets = presets
        self.rate = rate
    }

    /// Whether it may ask for anything.
    var isUnrestricted: Bool { hosts.isEmpty && presets == nil }

    func sign(_ request: SignedRequest) -> Signature {
        let code = HMAC<SHA256>.authenticationCode(for: Array(request.text.utf8), using: secret)
        return Signature(keyID: id, code: Data(code))
    }

    /// How long the answer takes tells nothing about the secret.
    func hasSigned(_ request: SignedRequest, as code: Data) -> Bool {
        HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Array(request.text.utf8), using: secret)
    }

    /// Names that need no quoting anywhere: of keys and of presets.
    static func isName(_ text: String) -> Bool {
        (1...32).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (0x61...0x7a).contains($0 | 0x20) || Digits.isDigit($0) || $0 == 0x2d || $0 == 0x5f
            }
    }
}

extension SigningKey: Hashable, CustomStringConvertible, CustomReflectable {
    package static func == (left: SigningKey, right: SigningKey) -> Bool {
        left.secret == right.secret && left.id == right.id && left.hosts == right.hosts
            && left.presets == right.presets && left.rate == right.rate
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// The id: nothing that prints a key prints its secret.
    package var description: String { id }
    package var customMirror: Mirror { Mirror(self, children: ["id": id]) }
}
