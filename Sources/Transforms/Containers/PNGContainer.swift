import DarkroomVips
import NIOCore

/// The chunks of a PNG file (PNG 3rd edition, §5), as far as needed to leave out chunks that draw nothing.
enum PNGContainer {
    /// The file with only header, palette, transparent color and pixels. Texts, times, EXIF, animation frames, color
    /// spaces and bytes after the end are removed.
    ///
    /// Returns nil for a file whose chunks are out of order or corrupt, or that has critical chunks of other kinds.
    static func stripped(_ file: ByteBuffer) -> ByteBuffer? {
        var rest = file
        guard rest.readInteger(as: UInt64.self) == signature else { return nil }
        var kept = ByteBuffer()
        kept.reserveCapacity(file.readableBytes)
        kept.writeInteger(signature)
        var order = Order()
        while let chunk = readChunk(&rest) {
            guard order.accepts(chunk) else { return nil }
            guard chunk.isKept else { continue }
            guard chunk.isIntact else { return nil }
            kept.writeImmutableBuffer(chunk.bytes)
            if chunk.type == end { return kept }
        }
        return nil
    }

    /// A chunk with its length, its type and its checksum.
    private struct Chunk {
        let type: UInt32
        /// The length of the content.
        let length: Int
        let bytes: ByteBuffer

        var isKept: Bool { [header, palette, transparency, pixels, end].contains(type) }

        /// A type has four letters. If the first is lowercase, a decoder may ignore the chunk.
        var isAncillary: Bool {
            let letters = (0..<4).map { UInt8(truncatingIfNeeded: type >> (24 - 8 * $0)) }
            let isText = letters.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
            return isText && letters[0] & 0x20 != 0
        }

        /// Whether the checksum matches type and content.
        var isIntact: Bool {
            let checksum = bytes.withUnsafeReadableBytes {
                Checksum.crc32(UnsafeRawBufferPointer(rebasing: $0[4..<($0.count - 4)]))
            }
            return bytes.getInteger(at: bytes.writerIndex - 4, as: UInt32.self) == checksum
        }
    }

    /// Which chunks may come next (§5.6).
    private struct Order {
        private enum Place { case start, header, palette, transparency, pixels, behindPixels, end }

        private var place = Place.start

        mutating func accepts(_ chunk: Chunk) -> Bool {
            switch (chunk.type, place) {
            case (header, .start): place = .header
            case (palette, .header): place = .palette
            case (transparency, .header), (transparency, .palette): place = .transparency
            case (pixels, .header), (pixels, .palette), (pixels, .transparency), (pixels, .pixels): place = .pixels
            case (end, .pixels), (end, .behindPixels): place = .end
            default:
                guard !chunk.isKept, chunk.isAncillary, place != .start else { return false }
                if place == .pixels { place = .behindPixels }
                return true
            }
            return place != .header || chunk.length == 13
        }
    }

    private static func readChunk(_ rest: inout ByteBuffer) -> Chunk? {
        let start = rest.readerIndex
        guard let length: UInt32 = rest.getInteger(at: start), let type: UInt32 = rest.getInteger(at: start + 4),
            let bytes = rest.readSlice(length: Int(length) + 12)
        else { return nil }
        return Chunk(type: type, length: Int(length), bytes: bytes)
    }

    private static let signature: UInt64 = 0x8950_4E47_0D0A_1A0A
    /// `IHDR`, `PLTE`, `tRNS`, `IDAT` and `IEND`.
    private static let header: UInt32 = 0x4948_4452
    private static let palette: UInt32 = 0x504C_5445
    private static let transparency: UInt32 = 0x7452_4E53
    private static let pixels: UInt32 = 0x4944_4154
    private static let end: UInt32 = 0x4945_4E44
}
