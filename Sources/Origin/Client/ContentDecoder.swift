import DarkroomNetwork
import NIOCore
import NIOHTTP1

/// A content coding that is decoded although no request asks for it, as browsers do (RFC 9110 §8.4.1, RFC 7932,
/// RFC 8878).
enum ContentCoding: Hashable {
    case gzip, deflate, brotli, zstandard

    /// The most codings of one response.
    static let maxCodings = 4

    /// Nil for `identity`, for `aws-chunked`, which stores keep from uploads that they decoded, and for any other word,
    /// such as a charset: they mean nothing.
    init?(_ name: Substring) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstandard
        default: return nil
        }
    }

    /// The codings of `Content-Encoding` fields, in the order in which they were applied; nil if there are too many.
    static func list(_ values: [some StringProtocol]) -> [ContentCoding]? {
        let codings = values.flatMap { Substring($0).plainListMembers }.compactMap(ContentCoding.init)
        return codings.count <= maxCodings ? codings : nil
    }
}

/// Decodes the content codings of one body while it arrives, in pieces that are small enough for an event loop.
///
/// The output is limited twice: by the byte limit of sources, and by a multiple of the input, so that a small response
/// which decodes to gigabytes ends early. Both limits apply to every coding of a list.
final class ContentDecoder {
    static let pieceBytes = 64 << 10
    /// Output that any body may have, and output that each further byte of it allows.
    static let freeBytes = 8 << 20
    static let maxRatio = 100

    /// In the order of decoding.
    private var stages: [DecodingStage]
    private let maxBytes: Int
    private var receivedBytes = 0

    /// - Parameters:
    ///   - codings: in the order in which they were applied.
    ///   - maxBytes: the largest output.
    init(_ codings: [ContentCoding], maxBytes: Int) {
        stages = codings.reversed().map(DecodingStage.init)
        self.maxBytes = maxBytes
    }

    /// Whether all codings have reached their ends.
    var isComplete: Bool { stages.allSatisfy(\.hasEnded) }

    /// Adds bytes as they were received. Take all pieces before adding more.
    func append(_ bytes: ByteBuffer) {
        receivedBytes += bytes.readableBytes
        stages.first?.append(bytes)
    }

    /// The next piece of the content, or nil until more bytes are added.
    ///
    /// - Throws: ``OriginError/tooLarge(limitBytes:)`` or ``OriginError/unacceptableEncoding``.
    func next() throws(OriginError) -> ByteBuffer? { try next(stages.count - 1) }

    private func next(_ index: Int) throws(OriginError) -> ByteBuffer? {
        guard stages.indices.contains(index) else { return nil }
        while true {
            if let piece = try stages[index].next(atMost: Self.pieceBytes) {
                let limit = min(maxBytes, Self.freeBytes + Self.maxRatio * receivedBytes)
                guard stages[index].decodedBytes <= limit else { throw .tooLarge(limitBytes: limit) }
                return piece
            }
            guard let more = try next(index - 1) else { return nil }
            stages[index].append(more)
        }
    }
}
