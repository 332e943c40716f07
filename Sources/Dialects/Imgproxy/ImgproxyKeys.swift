import Crypto
import DarkroomNetwork
import Foundation

/// The pairs of key and salt that sign paths of imgproxy, and the texts that are accepted as signatures.
package struct ImgproxyKeys: Sendable {
    /// A key and its salt.
    fileprivate struct Pair: Sendable {
        let key: SymmetricKey
        let salt: Data
    }

    /// A pair that is invalid; the description never repeats a secret.
    package struct Flaw: Error, CustomStringConvertible {
        package let description: String
    }

    private var pairs: [Pair] = []
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
            self.pairs.append(Pair(key: SymmetricKey(data: key), salt: salt))
        }
    }

    package var isEmpty: Bool { pairs.isEmpty }

    /// Whether the signature is valid for a path; always false without keys. Compares in constant time.
    ///
    /// - Parameters:
    ///   - signature: base64url without padding, or a trusted text.
    ///   - path: what follows the signature, beginning with a slash.
    func accept(_ signature: Substring, of path: String) -> Bool {
        guard !isEmpty else { return false }
        // Keys compare in constant time.
        let given = SymmetricKey(data: Data(signature.utf8))
        if trusted.reduce(false, { $1 == given || $0 }) { return true }
        guard let code = Base64URLText.bytes(of: signature) else { return false }
        let claimed = SymmetricKey(data: code)
        return pairs.reduce(false) { $1.code(for: path, size) == claimed || $0 }
    }

    /// The signature of a path by the first pair; nil without keys.
    package func signature(of path: String) -> String? {
        pairs.first.map { Base64URLText.text(of: $0.code(for: path, size).withUnsafeBytes { Data($0) }) }
    }

    private static func bytes(ofHex text: String) -> Data? {
        let digits = text.utf8.compactMap(\.hexDigitValue)
        guard digits.count == text.utf8.count, digits.count.isMultiple(of: 2), !digits.isEmpty else { return nil }
        return Data(stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] })
    }
}

extension ImgproxyKeys.Pair {
    /// The HMAC-SHA256 of salt and path, truncated.
    func code(for path: String, _ size: Int) -> SymmetricKey {
        var code = HMAC<SHA256>(key: key)
        code.update(data: salt)
        code.update(data: Data(path.utf8))
        return SymmetricKey(data: Data(code.finalize()).prefix(size))
    }
}
