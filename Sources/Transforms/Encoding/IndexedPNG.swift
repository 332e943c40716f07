import DarkroomVips
import NIOCore

/// A PNG of at most 256 colors whose pixels are indices of a palette (PNG 3rd edition, §11.2.1).
///
/// libvips makes palettes only by reducing colors, which changes drawings too.
struct IndexedPNG {
    static let maxColors = 256

    private let colors: [UInt32]
    private let hasAlpha: Bool
    /// Bits of an index: 1, 2, 4 or 8.
    private let bits: Int
    /// The indices, row by row, each row in whole bytes.
    private let rows: VipsImage

    /// Nil for an image of more colors.
    ///
    /// - Parameters:
    ///   - pixels: the image in memory, of three or four bands of bytes.
    ///   - packs: whether several indices may share a byte, which interlacing does not permit.
    init?(of pixels: VipsImage, packs: Bool) throws(VipsError) {
        let (width, height, bands) = (pixels.width, pixels.height, pixels.bands)
        hasAlpha = bands == 4
        guard let (colors, indices) = try pixels.withSamples({ Self.indexed($0, bands: bands) }) else { return nil }
        self.colors = colors
        bits = packs ? [1, 2, 4].first(where: { colors.count <= 1 << $0 }) ?? 8 : 8
        let packed = bits == 8 ? indices : Self.packed(indices, width: width, bits: bits)
        rows = try VipsImage.fromBytes(packed, width: packed.count / height, height: height, bands: 1)
            .applying("copy", ["interpretation": "b-w"])
    }

    /// The colors in order of appearance, and the index of each pixel.
    private static func indexed(_ samples: UnsafeRawBufferPointer, bands: Int) -> (colors: [UInt32], indices: [UInt8])?
    {
        var (colors, places): ([UInt32], [UInt32: UInt8]) = ([], [:])
        var indices: [UInt8] = []
        indices.reserveCapacity(samples.count / bands)
        var last: (color: UInt32, index: UInt8)?
        for pixel in stride(from: 0, through: samples.count - bands, by: bands) {
            let color = ColorCount.color(samples, pixel, bands)
            if let last, last.color == color {
                indices.append(last.index)
                continue
            }
            let index: UInt8
            if let known = places[color] {
                index = known
            } else {
                guard colors.count < maxColors else { return nil }
                index = UInt8(colors.count)
                places[color] = index
                colors.append(color)
            }
            last = (color, index)
            indices.append(index)
        }
        return (colors, indices)
    }

    /// Several indices a byte, the first one in the highest bits (§7.2).
    private static func packed(_ indices: [UInt8], width: Int, bits: Int) -> [UInt8] {
        let each = 8 / bits
        let rowBytes = (width + each - 1) / each
        var packed = [UInt8](repeating: 0, count: indices.count / width * rowBytes)
        for (place, index) in indices.enumerated() {
            let (row, column) = (place / width, place % width)
            packed[row * rowBytes + column / each] |= index << UInt8(8 - bits * (column % each + 1))
        }
        return packed
    }

    /// The file, with the metadata of a PNG of the same pixels without a palette; nil if that is in an unexpected form.
    func file(
        like other: ByteBuffer, level: Int, interlaced: Bool, interrupt: @escaping Interrupt
    ) throws(VipsError) -> ByteBuffer? {
        let gray = try VipsSaver.png.encode(
            rows,
            [
                "compression": .int(level), "interlace": .bool(interlaced), "filter": .int(RowFilters.none),
                "strip": true,
            ], interrupt: interrupt)
        var (rest, file) = (other, ByteBuffer())
        guard rest.readInteger(as: UInt64.self) == PNGContainer.signature else { return nil }
        file.writeInteger(PNGContainer.signature)
        var hasPixels = false
        while let chunk = rest.readPNGChunk() {
            switch chunk.type {
            case PNGChunk.header:
                var header = ByteBuffer(chunk.content)
                header.setInteger(UInt8(bits), at: 8)
                header.setInteger(Self.colorType, at: 9)
                file.writePNGChunk(chunk.type, header.readableBytesView)
            case PNGChunk.pixels:
                if !hasPixels { writePixels(of: gray, to: &file) }
                hasPixels = true
            default:
                if chunk.isKept || chunk.isAncillary, chunk.type != PNGChunk.transparency {
                    file.writeImmutableBuffer(chunk.bytes)
                }
            }
        }
        return hasPixels ? file : nil
    }

    /// The color type of indices.
    private static let colorType: UInt8 = 3

    /// Writes the palette and the indices.
    private func writePixels(of gray: ByteBuffer, to file: inout ByteBuffer) {
        let shift = hasAlpha ? UInt32(8) : 0
        var palette = ByteBuffer()
        for color in colors {
            let rgb = color >> shift
            palette.writeMultipleIntegers(
                UInt8(truncatingIfNeeded: rgb >> 16), UInt8(truncatingIfNeeded: rgb >> 8),
                UInt8(truncatingIfNeeded: rgb))
        }
        file.writePNGChunk(PNGChunk.palette, palette.readableBytesView)
        if hasAlpha {
            // At least one entry, so that the file keeps its alpha channel.
            let alphas = colors.map { UInt8(truncatingIfNeeded: $0) }
            let count = (alphas.lastIndex { $0 < 255 } ?? 0) + 1
            file.writePNGChunk(PNGChunk.transparency, ByteBuffer(bytes: alphas.prefix(count)).readableBytesView)
        }
        var rest = gray
        rest.moveReaderIndex(forwardBy: 8)
        while let chunk = rest.readPNGChunk(), chunk.type != PNGChunk.end {
            if chunk.type == PNGChunk.pixels { file.writeImmutableBuffer(chunk.bytes) }
        }
    }
}
