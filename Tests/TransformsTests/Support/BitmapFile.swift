import NIOCore

/// BMP and ICO files that tests assemble byte by byte.
struct BitmapFile {
    var headerBytes = 40
    var width = 2
    var height = 2
    var bits = 24
    var compression = 0
    var colorsUsed = 0
    /// Behind the first 40 bytes of the header.
    var extra: [UInt8] = []
    /// Blue, green, red and 0 for each color.
    var palette: [UInt8] = []
    /// As stored.
    var pixels: [UInt8] = []
    /// Nil = where they are.
    var pixelStart: Int?

    private var header: [UInt8] {
        let core = headerBytes == 12
        return Self.bytes(headerBytes, 4) + Self.bytes(width, core ? 2 : 4) + Self.bytes(height, core ? 2 : 4)
            + Self.bytes(1, 2) + Self.bytes(bits, 2)
            + (core
                ? []
                : Self.bytes(compression, 4) + Self.bytes(0, 4) + Self.bytes(2000, 4) + Self.bytes(4000, 4)
                    + Self.bytes(colorsUsed, 4) + Self.bytes(0, 4))
            + extra
    }

    /// A BMP.
    var file: ByteBuffer {
        let start = 14 + header.count + palette.count
        let head = Array("BM".utf8) + Self.bytes(0, 8) + Self.bytes(pixelStart ?? start, 4)
        return ByteBuffer(bytes: head + header + palette + pixels)
    }

    /// The bytes of an image in an icon, where `height` counts both bitmaps.
    var iconImage: [UInt8] { header + palette + pixels }

    /// An ICO of these images.
    static func icon(_ images: [[UInt8]], count: Int? = nil, kind: Int = 1) -> ByteBuffer {
        var directory = bytes(0, 2) + bytes(kind, 2) + bytes(count ?? images.count, 2)
        var start = 6 + 16 * images.count
        for image in images {
            directory += bytes(0, 8) + bytes(image.count, 4) + bytes(start, 4)
            start += image.count
        }
        return ByteBuffer(bytes: directory + images.flatMap(\.self))
    }

    /// A bitmap of 32 bits for an icon: one color, as red, green, blue and alpha.
    static func iconImage(side: Int, _ color: [UInt8], mask: UInt8? = nil) -> [UInt8] {
        let pixel = [color[2], color[1], color[0], color[3]]
        let maskBytes = mask.map { Array(repeating: $0, count: (side + 31) / 32 * 4 * side) } ?? []
        return BitmapFile(
            width: side, height: 2 * side, bits: 32,
            pixels: Array(repeatElement(pixel, count: side * side).joined()) + maskBytes
        ).iconImage
    }

    /// Little-endian.
    static func bytes(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
