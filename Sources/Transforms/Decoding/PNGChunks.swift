import NIOCore

/// The chunks that a PNG is made of (PNG §5.3).
enum PNGChunks {
    /// Whether one that stands before the pixels ends behind the source's end. The decoder makes room for as much as a text says that it has
    /// before it reads any: a file of a hundred bytes would take 2 GiB.
    static func overreach(_ source: ByteBuffer) -> Bool {
        var rest = source
        guard rest.readSlice(length: signatureBytes) != nil else { return false }
        while let length = rest.readInteger(as: UInt32.self), let type = rest.readInteger(as: UInt32.self) {
            if type == pixels { return false }
            guard rest.readSlice(length: Int(length) + checksumBytes) != nil else { return true }
        }
        return false
    }

    private static let signatureBytes = 8
    private static let checksumBytes = 4
    /// `IDAT`.
    private static let pixels: UInt32 = 0x4944_4154
}
