import NIOCore

/// The chunks of a WebP file (RFC 9649 §2), as far as needed to leave one out.
enum WebPContainer {
    /// The file without its `EXIF` chunk: libvips 8.14 adds one of 186 bytes or more to every image, even if it is told
    /// to strip metadata. A header of extended features that is then of no use goes too.
    ///
    /// Returns the file as it is if it has no such chunk, or is not of the expected form.
    static func removingEXIF(from file: ByteBuffer) -> ByteBuffer {
        guard var chunks = chunks(of: file), chunks.contains(where: { $0.name == "EXIF" }) else { return file }
        chunks.removeAll { $0.name == "EXIF" }
        var body = ByteBuffer()
        let isSimple = chunks.count == 2 && chunks[0].name == "VP8X" && chunks[1].name.hasPrefix("VP8")
        for chunk in isSimple ? chunks[1...] : chunks[...] {
            guard var bytes = file.getSlice(at: chunk.start, length: chunk.length) else { return file }
            if chunk.name == "VP8X", let flags: UInt8 = bytes.getInteger(at: flagsOffset) {
                bytes.setInteger(flags & ~exifFlag, at: flagsOffset)
            }
            body.writeBuffer(&bytes)
        }
        guard let size = UInt32(exactly: body.readableBytes + 4) else { return file }
        var result = ByteBuffer()
        result.reserveCapacity(body.readableBytes + headerLength)
        result.writeString("RIFF")
        result.writeInteger(size, endianness: .little)
        result.writeString("WEBP")
        result.writeBuffer(&body)
        return result
    }

    /// A chunk with its name, its length and its padding.
    private struct Chunk {
        let name: String
        let start: Int
        let length: Int
    }

    private static let headerLength = 12
    /// In a `VP8X` chunk (RFC 9649 §2.7).
    private static let flagsOffset = 8
    private static let exifFlag: UInt8 = 0x08

    /// All chunks in order; nil unless they fill the file.
    private static func chunks(of file: ByteBuffer) -> [Chunk]? {
        let end = file.writerIndex
        guard file.readerIndex == 0, file.getString(at: 0, length: 4) == "RIFF",
            file.getString(at: 8, length: 4) == "WEBP"
        else { return nil }
        var chunks: [Chunk] = []
        var start = headerLength
        while start < end {
            guard let name = file.getString(at: start, length: 4),
                let size: UInt32 = file.getInteger(at: start + 4, endianness: .little)
            else { return nil }
            let length = 8 + Int(size) + Int(size % 2)
            guard start + length <= end else { return nil }
            chunks.append(Chunk(name: name, start: start, length: length))
            start += length
        }
        return chunks
    }
}
