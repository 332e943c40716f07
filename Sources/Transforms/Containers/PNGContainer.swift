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
        while let chunk = rest.readPNGChunk() {
            guard order.accepts(chunk) else { return nil }
            guard chunk.isKept else { continue }
            guard chunk.isIntact else { return nil }
            kept.writeImmutableBuffer(chunk.bytes)
            if chunk.type == PNGChunk.end { return kept }
        }
        return nil
    }

    /// Which chunks may come next (§5.6).
    private struct Order {
        private enum Place { case start, header, palette, transparency, pixels, behindPixels, end }

        private var place = Place.start

        mutating func accepts(_ chunk: PNGChunk) -> Bool {
            switch (chunk.type, place) {
            case (PNGChunk.header, .start): place = .header
            case (PNGChunk.palette, .header): place = .palette
            case (PNGChunk.transparency, .header), (PNGChunk.transparency, .palette): place = .transparency
            case (PNGChunk.pixels, .header), (PNGChunk.pixels, .palette), (PNGChunk.pixels, .transparency),
                (PNGChunk.pixels, .pixels):
                place = .pixels
            case (PNGChunk.end, .pixels), (PNGChunk.end, .behindPixels): place = .end
            default:
                guard !chunk.isKept, chunk.isAncillary, place != .start else { return false }
                if place == .pixels { place = .behindPixels }
                return true
            }
            return place != .header || chunk.length == 13
        }
    }

    static let signature: UInt64 = 0x8950_4E47_0D0A_1A0A
}

/// A chunk with its length, its type and its checksum (§5.3).
struct PNGChunk {
    let type: UInt32
    /// The length of the content.
    let length: Int
    let bytes: ByteBuffer

    /// `IHDR`, `PLTE`, `tRNS`, `IDAT` and `IEND`.
    static let header: UInt32 = 0x4948_4452
    static let palette: UInt32 = 0x504C_5445
    static let transparency: UInt32 = 0x7452_4E53
    static let pixels: UInt32 = 0x4944_4154
    static let end: UInt32 = 0x4945_4E44

    fileprivate var isKept: Bool {
        [Self.header, Self.palette, Self.transparency, Self.pixels, Self.end].contains(type)
    }

    /// Whether a decoder needs the chunk: the first letter of its type is a capital (§5.4).
    var isCritical: Bool { type & 0x2000_0000 == 0 }

    /// Whether the type has four letters, and a decoder may ignore the chunk.
    fileprivate var isAncillary: Bool {
        let letters = (0..<4).map { UInt8(truncatingIfNeeded: type >> (24 - 8 * $0)) }
        return !isCritical && letters.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
    }

    /// Whether the checksum matches type and content.
    var isIntact: Bool {
        let checksum = bytes.withUnsafeReadableBytes {
            Checksum.crc32(UnsafeRawBufferPointer(rebasing: $0[4..<($0.count - 4)]))
        }
        return bytes.getInteger(at: bytes.writerIndex - 4, as: UInt32.self) == checksum
    }
}

extension ByteBuffer {
    /// The next chunk of a PNG; nil if it is incomplete.
    mutating func readPNGChunk() -> PNGChunk? {
        guard let length: UInt32 = getInteger(at: readerIndex), let type: UInt32 = getInteger(at: readerIndex + 4),
            let bytes = readSlice(length: Int(length) + 12)
        else { return nil }
        return PNGChunk(type: type, length: Int(length), bytes: bytes)
    }
}
