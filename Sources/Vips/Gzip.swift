import DarkroomCVips
public import NIOCore

/// Inflates gzip data (RFC 1952) by GLib, on which libvips stands.
public enum Gzip {
    /// Whether the bytes begin as a gzip member does.
    public static func isGzip(_ source: ByteBuffer) -> Bool {
        source.readableBytesView.starts(with: [0x1F, 0x8B, 0x08])
    }

    /// The first member's plain bytes, `maxBytes` of them at the most, and whether that is all of it.
    /// Throws where the data is damaged or cut off before that many bytes.
    public static func inflate(
        _ source: ByteBuffer, maxBytes: Int
    ) throws(VipsError) -> (plain: ByteBuffer, isWhole: Bool) {
        guard let inflater = darkroom_inflater_new() else { throw VipsError(operation: "gunzip", message: "no memory") }
        defer { g_object_unref(inflater) }
        var rest = source
        var plain = ByteBuffer()
        while plain.readableBytes <= maxBytes {
            let step = inflateChunk(inflater, &rest, into: &plain)
            guard step != .failed else { throw VipsError(operation: "gunzip", message: "damaged or cut off") }
            if step == .finished, plain.readableBytes <= maxBytes { return (plain, true) }
        }
        return (plain.getSlice(at: 0, length: maxBytes) ?? plain, false)
    }

    private enum Step {
        case more
        case finished
        case failed
    }

    private static func inflateChunk(_ inflater: gpointer, _ source: inout ByteBuffer, into plain: inout ByteBuffer)
        -> Step
    {
        var taken: gsize = 0
        var outcome: Int32 = -1
        plain.writeWithUnsafeMutableBytes(minimumWritableBytes: 65_536) { room in
            var written: gsize = 0
            outcome = source.withUnsafeReadableBytes { bytes in
                darkroom_inflate(
                    inflater, bytes.baseAddress, gsize(bytes.count), room.baseAddress, gsize(room.count), &taken,
                    &written)
            }
            return Int(written)
        }
        source.moveReaderIndex(forwardBy: Int(taken))
        return outcome < 0 ? .failed : outcome > 0 ? .finished : .more
    }
}
