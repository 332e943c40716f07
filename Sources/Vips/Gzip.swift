import DarkroomCVips
public import NIOCore

/// Decompression of gzip data (RFC 1952) by GLib, which libvips depends on.
public enum Gzip {
    /// Whether the bytes begin with the signature of a gzip member.
    public static func isGzip(_ source: ByteBuffer) -> Bool {
        source.readableBytesView.starts(with: [0x1F, 0x8B, 0x08])
    }

    /// Decompresses the first member, up to `maxBytes`.
    ///
    /// - Returns: the plain bytes, and whether they are the whole member.
    /// - Throws: `VipsError` if the data is corrupt or truncated before that many bytes.
    public static func inflate(
        _ source: ByteBuffer, maxBytes: Int
    ) throws(VipsError) -> (plain: ByteBuffer, isWhole: Bool) {
        guard let inflater = darkroom_inflater_new() else { throw VipsError(operation: "gunzip", message: "no memory") }
        defer { g_object_unref(inflater) }
        var rest = source
        var plain = ByteBuffer()
        while plain.readableBytes <= maxBytes {
            var taken: gsize = 0
            var outcome: Int32 = -1
            plain.writeWithUnsafeMutableBytes(minimumWritableBytes: 65_536) { room in
                var written: gsize = 0
                outcome = rest.withUnsafeReadableBytes { bytes in
                    darkroom_inflate(
                        inflater, bytes.baseAddress, gsize(bytes.count), room.baseAddress, gsize(room.count), &taken,
                        &written)
                }
                return Int(written)
            }
            rest.moveReaderIndex(forwardBy: Int(taken))
            guard outcome >= 0 else { throw VipsError(operation: "gunzip", message: "corrupt or truncated") }
            if outcome > 0, plain.readableBytes <= maxBytes { return (plain, true) }
        }
        return (plain.getSlice(at: 0, length: maxBytes) ?? plain, false)
    }
}

/// The checksum of PNG chunks and gzip members (PNG 3rd edition, Annex D; RFC 1952 §8), by zlib.
package enum Checksum {
    package static func crc32(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return UInt32(truncatingIfNeeded: crc32_z(0, start, bytes.count))
    }
}
