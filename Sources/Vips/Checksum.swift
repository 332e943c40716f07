import DarkroomCVips

/// The checksum of PNG chunks and gzip members (PNG 3rd edition, Annex D; RFC 1952 §8), by zlib.
package enum Checksum {
    package static func crc32(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        return UInt32(truncatingIfNeeded: crc32_z(0, start, bytes.count))
    }
}
