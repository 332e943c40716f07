import Crypto
import Foundation

/// The key of thumbor or imagor that paths are signed with.
package struct ThumborKey: Sendable {
    /// The hash function of the HMAC.
    package enum Algorithm: String, CaseIterable, Sendable {
        case sha1, sha256, sha512
    }

    private let secret: SymmetricKey
    private let algorithm: Algorithm
    private let length: Int?

    /// - Parameters:
    ///   - secret: The text of the key, not empty.
    ///   - algorithm: The hash function; thumbor uses SHA-1.
    ///   - length: The characters that signatures are truncated to; nil = signatures are not truncated.
    package init(_ secret: String, algorithm: Algorithm = .sha1, length: Int? = nil) {
        self.secret = SymmetricKey(data: Array(secret.utf8))
        self.algorithm = algorithm
        self.length = length
    }

    /// Signs the raw text that follows the signature in a path, in base64url.
    package func sign(_ path: some StringProtocol) -> String {
        let text = Array(path.utf8)
        let code: Data =
            switch algorithm {
            case .sha1: Data(HMAC<Insecure.SHA1>.authenticationCode(for: text, using: secret))
            case .sha256: Data(HMAC<SHA256>.authenticationCode(for: text, using: secret))
            case .sha512: Data(HMAC<SHA512>.authenticationCode(for: text, using: secret))
            }
        let signature = code.base64EncodedString().map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
        return String(signature.prefix(length ?? signature.count))
    }

    /// Whether the signature was made with this key. Compares in constant time.
    func hasSigned(_ path: some StringProtocol, as signature: String) -> Bool {
        let (expected, given) = (Array(sign(path).utf8), Array(signature.utf8))
        guard expected.count == given.count else { return false }
        return zip(expected, given).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

extension ThumborKey: CustomStringConvertible, CustomReflectable {
    /// Without the secret.
    package var description: String { algorithm.rawValue }
    package var customMirror: Mirror { Mirror(self, children: ["algorithm": algorithm]) }
}
