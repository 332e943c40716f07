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

/// Pixels or a profile of a PNG as a zlib stream (RFC 1950).
package enum ZlibStream {
    /// A stream that holds up to 65,535 bytes as they are.
    package static func storing(_ bytes: ByteBuffer) -> ByteBuffer {
        let length = UInt16(clamping: bytes.readableBytes)
        // The fastest method, and the last block, which is stored (RFC 1951, §3.2.4).
        var stream = ByteBuffer(bytes: [0x78, 0x01, 1])
        stream.writeMultipleIntegers(length, ~length, endianness: .little)
        stream.writeImmutableBuffer(bytes)
        let checksum = bytes.withUnsafeReadableBytes { content in
            adler32_z(adler32(0, nil, 0), content.baseAddress?.assumingMemoryBound(to: UInt8.self), content.count)
        }
        stream.writeInteger(UInt32(truncatingIfNeeded: checksum))
        return stream
    }

    /// A stream that inflates to its end: its length without the checksum, the right checksum, and whether it states
    /// another one.
    package typealias Whole = (end: Int, checksum: UInt32, hasWrongChecksum: Bool)

    /// Inflates a stream, whose checksum may be wrong or missing.
    ///
    /// - Returns: nil if the stream does not inflate to its end, without an error and to at least `count` bytes.
    package static func whole(_ stream: ByteBuffer, atLeast count: Int) -> Whole? {
        stream.withUnsafeReadableBytes { whole(UnsafeRawBufferPointer($0), atLeast: count) }
    }

    private static func whole(_ bytes: UnsafeRawBufferPointer, atLeast count: Int) -> Whole? {
        guard bytes.count > headerLength, let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) else {
            return nil
        }
        var state = z_stream()
        // A stream without its header reports an error in its data, but none in its checksum.
        guard inflateInit2_(&state, -MAX_WBITS, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            return nil
        }
        defer { inflateEnd(&state) }
        state.next_in = UnsafeMutablePointer(mutating: start + headerLength)
        state.avail_in = UInt32(clamping: bytes.count - headerLength)
        var checksum = adler32(0, nil, 0)
        var written = 0
        var outcome = Z_OK
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 65_536) { room in
            // One row more than needed may follow, not as many as a stream may hold.
            while outcome == Z_OK, written <= count + room.count {
                state.next_out = room.baseAddress
                state.avail_out = UInt32(room.count)
                outcome = inflate(&state, Z_NO_FLUSH)
                let length = room.count - Int(state.avail_out)
                checksum = adler32(checksum, room.baseAddress, UInt32(length))
                written += length
            }
        }
        guard outcome == Z_STREAM_END, written >= count else { return nil }
        let end = bytes.count - Int(state.avail_in)
        let right = UInt32(truncatingIfNeeded: checksum)
        guard bytes.count - end >= MemoryLayout<UInt32>.size else { return (end, right, false) }
        return (end, right, bytes.loadUnaligned(fromByteOffset: end, as: UInt32.self).bigEndian != right)
    }

    private static let headerLength = 2
}
