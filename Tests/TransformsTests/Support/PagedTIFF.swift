import NIOCore

/// An uncompressed TIFF with pages of several sizes, each of one color.
struct PagedTIFF {
    var pages: [(width: Int, height: Int, color: [UInt8])]

    var file: ByteBuffer {
        let bytes = BitmapFile.bytes
        var file = Array("II".utf8) + bytes(42, 2) + bytes(8, 4)
        for (index, page) in pages.enumerated() {
            let depths = file.count + 2 + 9 * 12 + 4
            let pixels = Array(repeatElement(page.color, count: page.width * page.height).joined())
            let fields = [
                (256, page.width), (257, page.height), (258, depths), (259, 1), (262, 2), (273, depths + 6), (277, 3),
                (278, page.height), (279, pixels.count),
            ]
            file += bytes(fields.count, 2)
            for (tag, value) in fields {
                // Unsigned integers of 16 bits for each channel, and of 32 bits.
                file += bytes(tag, 2) + bytes(tag == 258 ? 3 : 4, 2) + bytes(tag == 258 ? 3 : 1, 4) + bytes(value, 4)
            }
            let end = depths + 6 + pixels.count
            file += bytes(index == pages.count - 1 ? 0 : end + end % 2, 4)
            file += bytes(8, 2) + bytes(8, 2) + bytes(8, 2) + pixels + Array(repeating: 0, count: end % 2)
        }
        return ByteBuffer(bytes: file)
    }
}
