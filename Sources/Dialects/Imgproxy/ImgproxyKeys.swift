import Crypto
import DarkroomNetwork
import DarkroomQuery
import Foundation

/// The pairs of key and salt that sign paths of imgproxy, and the texts that are accepted as signatures.
package struct ImgproxyKeys: Sendable {
    /// A pair that is invalid; the description never repeats a secret.
    package struct Flaw: Error, CustomStringConvertible {
        package let description: String
    }

    private var pairs: [(key: SymmetricKey, salt: Data)] = []
    private let size: Int
    private let trusted: [SymmetricKey]

    /// The accepted values of the signature size in bytes.
    package static let sizes = 1...32

    /// - Parameters:
    ///   - pairs: key and salt in hexadecimal, each at least one byte.
    ///   - size: the bytes that signatures are truncated to, one of ``sizes``.
    ///   - trusted: texts that are accepted in place of a signature.
    package init(
        pairs: [(key: String, salt: String)] = [], size: Int = 32, trusted: [String] = []
    ) throws(Flaw) {
        self.size = size
        self.trusted = trusted.map { SymmetricKey(data: Data($0.utf8)) }
        for (index, pair) in pairs.enumerated() {
            guard let key = Self.bytes(ofHex: pair.key), let salt = Self.bytes(ofHex: pair.salt) else {
                throw Flaw(
                    description:
                        "pair \(index + 1) must be a key and a salt in hexadecimal, such as 736563726574:68656C")
            }
            self.pairs.append((SymmetricKey(data: key), salt))
        }
    }

    package var isEmpty: Bool { pairs.isEmpty }

    /// Whether the signature, in base64url, or a trusted text is valid for the path after it, beginning with a slash;
    /// always false without keys. Compares in constant time.
    func accept(_ signature: Substring, of path: String) -> Bool {
        guard !isEmpty else { return false }
        // Keys compare in constant time.
        let given = SymmetricKey(data: Data(signature.utf8))
        if trusted.reduce(false, { $1 == given || $0 }) { return true }
        guard let code = Base64URL.lenientBytes(of: signature) else { return false }
        let claimed = SymmetricKey(data: code)
        return pairs.reduce(false) { self.code(for: path, $1.key, $1.salt) == claimed || $0 }
    }

    /// The signature of a path by the first pair; nil without keys.
    package func signature(of path: String) -> String? {
        pairs.first.map { Base64URL.text(of: code(for: path, $0.key, $0.salt).withUnsafeBytes { Data($0) }) }
    }

    /// The HMAC-SHA256 of salt and path, truncated.
    private func code(for path: String, _ key: SymmetricKey, _ salt: Data) -> SymmetricKey {
        SymmetricKey(data: Data(HMAC<SHA256>.authenticationCode(for: salt + Data(path.utf8), using: key)).prefix(size))
    }

    private static func bytes(ofHex text: String) -> Data? {
        let digits = text.utf8.compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2), !digits.isEmpty else { return nil }
        return Data(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }
}
