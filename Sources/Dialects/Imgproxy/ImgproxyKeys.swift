import Crypto
import DarkroomNetwork
import DarkroomQuery
import Foundation

/// The pairs of key and salt that sign paths of imgproxy.
package struct ImgproxyKeys: Sendable {
    /// A pair that is invalid; the description never repeats a secret.
    package struct Flaw: Error, CustomStringConvertible {
        package let description: String
    }

    private var pairs: [(key: SymmetricKey, salt: Data)] = []

    /// - Parameter pairs: key and salt in hexadecimal, each at least one byte.
    package init(pairs: [(key: String, salt: String)] = []) throws(Flaw) {
        for (index, pair) in pairs.enumerated() {
            guard let key = [UInt8](hex: pair.key.utf8), let salt = [UInt8](hex: pair.salt.utf8), !key.isEmpty,
                !salt.isEmpty
            else {
                throw Flaw(
                    description:
                        "pair \(index + 1) must be a key and a salt in hexadecimal, such as 736563726574:68656C")
            }
            self.pairs.append((SymmetricKey(data: key), Data(salt)))
        }
    }

    package var isEmpty: Bool { pairs.isEmpty }

    /// The path, if a key has signed it, and the one spelling of the signature: base64url without padding; nil for a
    /// wrong signature, and without keys.
    ///
    /// - Parameter path: What follows the signature, beginning with a slash.
    func verify(_ path: String, by signature: Substring) -> (text: VerifiedText, signature: Substring)? {
        guard !isEmpty else { return nil }
        // imgproxy ignores padding.
        let padding = signature.utf8.reversed().prefix { $0 == UInt8(ascii: "=") }.count
        let unpadded = signature.dropLast(padding)
        guard let code = Base64URL.bytes(of: String(unpadded)) else { return nil }
        return VerifiedText.signed([path], as: code) { path in
            pairs.map { self.code(for: path, $0.key, $0.salt) }
        }.map { ($0, unpadded) }
    }

    /// The signature of a path by the first pair; nil without keys.
    package func signature(of path: String) -> String? {
        pairs.first.map { Base64URL.text(of: code(for: path, $0.key, $0.salt)) }
    }

    /// The HMAC-SHA256 of salt and path.
    private func code(for path: String, _ key: SymmetricKey, _ salt: Data) -> Data {
        Data(HMAC<SHA256>.authenticationCode(for: salt + Data(path.utf8), using: key))
    }
}
