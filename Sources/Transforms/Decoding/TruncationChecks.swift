import DarkroomVips
import NIOCore

/// The blocks of a GIF (GIF89a §12-26). libvips drops an incomplete last frame without an error, so truncation is found
/// here.
enum GIFBlocks {
    /// Whether the bytes end inside a block. A missing trailer is accepted, since many complete files lack it.
    static func isTruncated(_ source: ByteBuffer) -> Bool {
        var rest = source
        guard rest.readSlice(length: 10) != nil, skipColors(&rest, behind: 2) else { return true }
        while let introducer = rest.readInteger(as: UInt8.self) {
            let isWhole: Bool
            switch introducer {
            case 0x21: isWhole = rest.readSlice(length: 1) != nil && skipSubBlocks(&rest)
            case 0x2C: isWhole = skipImage(&rest)
            default: return false
            }
            guard isWhole else { return true }
        }
        return false
    }

    /// Position and size, color table, code size, codes.
    private static func skipImage(_ rest: inout ByteBuffer) -> Bool {
        rest.readSlice(length: 8) != nil && skipColors(&rest, behind: 0) && rest.readSlice(length: 1) != nil
            && skipSubBlocks(&rest)
    }

    /// A byte of flags, `behind` more bytes, and the color table that the flags declare.
    private static func skipColors(_ rest: inout ByteBuffer, behind: Int) -> Bool {
        guard let flags = rest.readInteger(as: UInt8.self) else { return false }
        let colors = flags & 0x80 == 0 ? 0 : 2 << Int(flags & 7)
        return rest.readSlice(length: behind + 3 * colors) != nil
    }

    private static func skipSubBlocks(_ rest: inout ByteBuffer) -> Bool {
        while let length = rest.readInteger(as: UInt8.self) {
            if length == 0 { return true }
            guard rest.readSlice(length: Int(length)) != nil else { return false }
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
        while let length = rest.readInteger(as: UInt32.self), let type = rest.readInteger(as: UInt32.self) {
            if type == pixels { return false }
            guard rest.readSlice(length: Int(length) + checksumBytes) != nil else { return true }
        }
        return false
    }

    /// Whether a chunk that decoders need has a wrong checksum (§13.2). libvips reads PNG with libspng on some systems,
    /// which accepts that. Chunks after the first incomplete chunk are not checked: decoders report that chunk.
    ///
    /// - Parameter beforePixels: whether only chunks before the first chunk with pixels are checked, as for a header.
    static func hasWrongChecksum(_ source: ByteBuffer, beforePixels: Bool = false) -> Bool {
        source.withUnsafeReadableBytes { bytes in
            var start = signatureBytes
            while start + headBytes + checksumBytes <= bytes.count {
                let length = Int(bytes.loadBigEndian(at: start))
                let end = start + headBytes + length
                guard end + checksumBytes <= bytes.count else { return false }
                if beforePixels, bytes.loadBigEndian(at: start + 4) == pixels { return false }
                // The first letter of a critical chunk is a capital (§5.4).
                let isCritical = bytes[start + 4] & 0x20 == 0
                let checked = UnsafeRawBufferPointer(rebasing: bytes[(start + 4)..<end])
                if isCritical, Checksum.crc32(checked) != bytes.loadBigEndian(at: end) { return true }
                if bytes.loadBigEndian(at: start + 4) == Self.end { return false }
                start = end + checksumBytes
            }
            return false
        }
    }

    private static let signatureBytes = 8
    /// The bytes of a chunk before its content: length and type.
    private static let headBytes = 8
    private static let checksumBytes = 4
    /// `IEND`.
    private static let end: UInt32 = 0x4945_4E44
    /// `IDAT`.
    private static let pixels: UInt32 = 0x4944_4154
}

extension UnsafeRawBufferPointer {
    fileprivate func loadBigEndian(at offset: Int) -> UInt32 {
        UInt32(bigEndian: loadUnaligned(fromByteOffset: offset, as: UInt32.self))
    }
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
