import DarkroomCCompression
import NIOCore

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
