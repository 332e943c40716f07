/// The hash that the source of an image must have. It is checked before anything is decoded, and changes no pixel.
public struct SourceDigest: Hashable, Codable, Sendable {
    public enum Algorithm: String, Codable, Sendable, CaseIterable {
        case md5, sha1, sha256, sha512
    }

    public let algorithm: Algorithm
    /// In lowercase hexadecimal.
    public let hex: String

    /// Nil unless the text has as many hexadecimal digits as a hash.
    public init?(_ algorithm: Algorithm, _ hex: String) {
        let digits = hex.lowercased()
        guard digits.utf8.count == algorithm.digits, digits.utf8.allSatisfy({ Self.alphabet.contains($0) }) else {
            return nil
        }
        self.algorithm = algorithm
        self.hex = digits
    }

    private static let alphabet = [UInt8]("0123456789abcdef".utf8)
}

extension SourceDigest.Algorithm {
    /// The length of a hash in hexadecimal.
    package var digits: Int {
        switch self {
        case .md5: 32
        case .sha1: 40
        case .sha256: 64
        case .sha512: 128
        }
    }
}
