import Crypto
import NIOCore

/// The hash that the source of an image must have. It is checked before anything is decoded, and changes no pixel.
public struct SourceDigest: Transform, Hashable, Codable {
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

    public var key: String { "digest(\(algorithm.rawValue):\(hex))" }

    public func planned(_ plan: ChainPlan) throws(TransformError) -> ChainPlan { plan }

    public func apply(_ image: ImageFrames, context: TransformContext) throws -> ImageFrames { image }

    /// Throws unless the bytes have the hash.
    func check(_ source: ByteBuffer) throws(ImageProcessingError) {
        let found = algorithm.hex(of: source)
        guard found == hex else { throw .badParameter("digest", "the source has the \(algorithm.rawValue) \(found)") }
    }
}

extension SourceDigest.Algorithm {
    private var function: any HashFunction {
        switch self {
        case .md5: Insecure.MD5()
        case .sha1: Insecure.SHA1()
        case .sha256: SHA256()
        case .sha512: SHA512()
        }
    }

    /// The length of a hash in hexadecimal.
    package var digits: Int { 2 * type(of: function.finalize()).byteCount }

    /// The hash of these bytes in hexadecimal.
    func hex(of source: ByteBuffer) -> String {
        var function = function
        source.withUnsafeReadableBytes { function.update(bufferPointer: $0) }
        return function.finalize().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
