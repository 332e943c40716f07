import DarkroomCCompression
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

final class DecodingStage {
    private let coding: ContentCoding
    /// Made with the first bytes, since `deflate` has two forms.
    private var decoder: UnsafeMutablePointer<darkroom_decoder>?
    private var input = ByteBuffer()
    /// Whether the decoder may have output without more input.
    private var isFull = false
    private(set) var decodedBytes = 0
    /// Whether the data has ended. More members or frames may follow.
    private(set) var hasEnded = false
    /// Whether something else than another member or frame followed the end.
    private var isOver = false

    init(_ coding: ContentCoding) { self.coding = coding }

    deinit { if let decoder { darkroom_decoder_free(decoder) } }

    func append(_ bytes: ByteBuffer) {
        if input.readableBytes == 0 { input = bytes } else { input.writeImmutableBuffer(bytes) }
    }

    /// Decodes until there is output, or the input is used up.
    func next(atMost size: Int) throws(OriginError) -> ByteBuffer? {
        while input.readableBytes > 0 || isFull {
            if isOver || hasEnded && !startsAgain() {
                (isOver, isFull, input) = (true, false, ByteBuffer())
                return nil
            }
            guard let decoder = decoder ?? makeDecoder() else {
                guard input.readableBytes < 2 else { throw .unacceptableEncoding }
                return nil
            }
            let piece = try decode(decoder, size)
            if piece.readableBytes > 0 { return piece }
        }
        return nil
    }

    private func decode(
        _ decoder: UnsafeMutablePointer<darkroom_decoder>, _ size: Int
    ) throws(OriginError) -> ByteBuffer {
        var output = ByteBufferAllocator().buffer(capacity: size)
        var (used, result) = (0, Int32(-1))
        let room = min(size, output.writableBytes)
        output.writeWithUnsafeMutableBytes(minimumWritableBytes: room) { target in
            var written = room
            used = input.readableBytes
            result = input.withUnsafeReadableBytes {
                darkroom_decode(decoder, $0.baseAddress, &used, target.baseAddress, &written)
            }
            return written
        }
        guard result >= 0 else { throw .unacceptableEncoding }
        // A decoder that takes nothing and gives nothing waits for more.
        isFull = output.readableBytes == room && result == 0
        guard used > 0 || output.readableBytes > 0 || result > 0 || input.readableBytes == 0 else {
            throw .unacceptableEncoding
        }
        input.moveReaderIndex(forwardBy: used)
        decodedBytes += output.readableBytes
        hasEnded = result > 0
        return output
    }

    /// Prepares for another member or frame. What follows the end otherwise is ignored, as browsers do.
    private func startsAgain() -> Bool {
        let isAnother = coding == .zstandard || coding == .gzip && input.readableBytesView.first == 0x1f
        guard isAnother, let decoder else { return false }
        return darkroom_decoder_reset(decoder) != 0
    }

    private func makeDecoder() -> UnsafeMutablePointer<darkroom_decoder>? {
        let kind: darkroom_coding
        switch coding {
        case .gzip: kind = DARKROOM_GZIP
        case .brotli: kind = DARKROOM_BROTLI
        case .zstandard: kind = DARKROOM_ZSTD
        case .deflate:
            // RFC 9110 §8.4.1.2 means zlib's format, but many servers send the bare data.
            guard let header: UInt16 = input.getInteger(at: input.readerIndex) else { return nil }
            kind = header % 31 == 0 && header >> 8 & 0xf == 8 ? DARKROOM_ZLIB : DARKROOM_DEFLATE
        }
        decoder = darkroom_decoder_new(kind)
        return decoder
    }
}
