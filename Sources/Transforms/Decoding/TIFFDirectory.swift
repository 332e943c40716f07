import NIOCore

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
