import Crypto
import DarkroomNetwork
import DarkroomQuery
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

    /// The text that was signed: a path as it was received, or decoded, because a client may sign a path before it
    /// encodes it; nil if neither was.
    func verify(_ path: Substring, by signature: String) -> VerifiedText? {
        let decoded = path.utf8.contains(UInt8(ascii: "%")) ? PercentEncoding.decode(path.utf8) : nil
        return VerifiedText.signed([String(path)] + [decoded].compactMap(\.self), as: signature.utf8) {
            [Data(sign($0).utf8)]
        }
    }
}

extension ThumborKey: CustomStringConvertible, CustomReflectable {
    /// Without the secret.
    package var description: String { algorithm.rawValue + (length.map { ", \($0) characters" } ?? "") }
    package var customMirror: Mirror { Mirror(self, children: ["algorithm": algorithm]) }
}
