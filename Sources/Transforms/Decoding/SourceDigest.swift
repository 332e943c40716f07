import Crypto
public import DarkroomRequests
import NIOCore

extension SourceDigest: Transform {
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

    /// The hash of these bytes in hexadecimal.
    func hex(of source: ByteBuffer) -> String {
        var function = function
        source.withUnsafeReadableBytes { function.update(bufferPointer: $0) }
        return function.finalize().map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
}
