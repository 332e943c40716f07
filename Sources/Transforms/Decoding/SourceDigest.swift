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
        let digest: [UInt8] =
            switch algorithm {
            case .md5: Self.hash(source, Insecure.MD5.self)
            case .sha1: Self.hash(source, Insecure.SHA1.self)
            case .sha256: Self.hash(source, SHA256.self)
            case .sha512: Self.hash(source, SHA512.self)
            }
        let found = digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
        guard found == hex else {
            throw .badParameter(
                TransformError(parameter: "digest", reason: "the source has the \(algorithm.rawValue) \(found)"))
        }
    }

    private static func hash<Function: HashFunction>(_ source: ByteBuffer, _: Function.Type) -> [UInt8] {
        source.withUnsafeReadableBytes { bytes in
            var function = Function()
            function.update(bufferPointer: bytes)
            return Array(function.finalize())
        }
    }
}

extension SourceDigest.Algorithm {
    /// Of a hash in hexadecimal.
    package var digits: Int {
        switch self {
        case .md5: 32
        case .sha1: 40
        case .sha256: 64
        case .sha512: 128
        }
    }
}
