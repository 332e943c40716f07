import NIOCore

/// The blocks of a GIF (GIF89a §12-26). libvips drops an incomplete last frame without an error, so truncation is found
/// here.
enum GIFBlocks {
    /// Whether the bytes end inside a block. A missing trailer is accepted, since many complete files lack it.
    static func isTruncated(_ source: ByteBuffer) -> Bool {
        var rest = source
        guard rest.readSlice(length: 10) != nil, rest.skipGIFColors(behind: 2) else { return true }
        while let introducer = rest.readInteger(as: UInt8.self) {
            switch introducer {
            case 0x21: guard rest.readSlice(length: 1) != nil else { return true }
            // Position and size, color table, and code size.
            case 0x2C:
                guard rest.readSlice(length: 8) != nil, rest.skipGIFColors(behind: 0),
                    rest.readSlice(length: 1) != nil
                else { return true }
            default: return false
            }
            guard rest.skipGIFSubBlocks() else { return true }
        }
        return false
    }
}

/// The chunks of a PNG (PNG 3rd edition, §5.3).
enum PNGChunks {
    /// Whether a chunk before the pixels extends past the end of the source. libpng allocates the declared length of a
    /// text before it reads the text: a file of a hundred bytes would take 2 GiB.
    static func exceedsSource(_ source: ByteBuffer) -> Bool {
        var rest = source
        guard rest.readSlice(length: signatureBytes) != nil else { return false }
        while let type: UInt32 = rest.getInteger(at: rest.readerIndex + 4), type != PNGChunk.pixels {
            guard rest.readPNGChunk() != nil else { return true }
        }
        return false
    }

    /// Whether a chunk that decoders need has a wrong checksum (§13.2). libvips reads PNG with libspng on some systems,
    /// which accepts that. Chunks after the first incomplete chunk are not checked: decoders report that chunk.
    ///
    /// - Parameter beforePixels: whether only chunks before the first chunk with pixels are checked, as for a header.
    static func hasWrongChecksum(_ source: ByteBuffer, beforePixels: Bool = false) -> Bool {
        var rest = source
        guard rest.readSlice(length: signatureBytes) != nil else { return false }
        while let chunk = rest.readPNGChunk() {
            if beforePixels, chunk.type == PNGChunk.pixels { return false }
            if chunk.isCritical, !chunk.isIntact { return true }
            if chunk.type == PNGChunk.end { return false }
        }
        return false
    }

    private static let signatureBytes = 8
}

/// The first directory of a TIFF (TIFF 6.0 §2; BigTIFF has 64-bit offsets).
enum TIFFDirectory {
    /// Whether the first directory begins within the bytes. A truncated file has usually lost it.
    static func isPresent(in source: ByteBuffer) -> Bool {
        let start = source.readerIndex
        let isBigEndian = source.getInteger(at: start, as: UInt8.self) == UInt8(ascii: "M")
        let endianness: Endianness = isBigEndian ? .big : .little
        let version = source.getInteger(at: start + 2, endianness: endianness, as: UInt16.self)
        let offset =
            version == 43
            ? source.getInteger(at: start + 8, endianness: endianness, as: UInt64.self)
            : source.getInteger(at: start + 4, endianness: endianness, as: UInt32.self).map(UInt64.init)
        return offset.map { $0 < UInt64(source.readableBytes) } ?? false
    }
}
