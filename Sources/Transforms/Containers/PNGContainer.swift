import DarkroomRequests
import DarkroomVips
import NIOCore

/// The chunks of a PNG file (PNG 3rd edition, §5).
enum PNGContainer {
    /// The file with only header, palette, transparent color and pixels. Texts, times, EXIF, animation frames, color
    /// spaces and bytes after the end are removed.
    ///
    /// Returns nil for a file whose chunks are out of order or corrupt, or that has critical chunks of other kinds, and
    /// for an animation, whose first frame may be another image.
    static func stripped(_ file: ByteBuffer) -> ByteBuffer? {
        guard PNGAnimation(in: file) == nil else { return nil }
        var rest = file
        guard rest.readInteger(as: UInt64.self) == signature else { return nil }
        var kept = ByteBuffer()
        kept.reserveCapacity(file.readableBytes)
        kept.writeInteger(signature)
        var order = Order()
        while let chunk = rest.readPNGChunk() {
            guard order.accepts(chunk) else { return nil }
            guard chunk.isKept else { continue }
            guard chunk.isIntact else { return nil }
            kept.writeImmutableBuffer(chunk.bytes)
            if chunk.type == PNGChunk.end { return kept }
        }
        return nil
    }

    /// Which chunks may come next (§5.6).
    private struct Order {
        private enum Place { case start, header, palette, transparency, pixels, behindPixels, end }

        private var place = Place.start

        mutating func accepts(_ chunk: PNGChunk) -> Bool {
            switch (chunk.type, place) {
            case (PNGChunk.header, .start): place = .header
            case (PNGChunk.palette, .header): place = .palette
            case (PNGChunk.transparency, .header), (PNGChunk.transparency, .palette): place = .transparency
            case (PNGChunk.pixels, .header), (PNGChunk.pixels, .palette), (PNGChunk.pixels, .transparency),
                (PNGChunk.pixels, .pixels):
                place = .pixels
            case (PNGChunk.end, .pixels), (PNGChunk.end, .behindPixels): place = .end
            default:
                guard !chunk.isKept, chunk.isAncillary, place != .start else { return false }
                if place == .pixels { place = .behindPixels }
                return true
            }
            return place != .header || chunk.length == 13
        }
    }

    static let signature: UInt64 = 0x8950_4E47_0D0A_1A0A
}

extension PNGContainer {
    /// Whether a chunk before the pixels extends past the end of the file. libpng allocates the declared length of a
    /// text before it reads the text: a file of a hundred bytes would take 2 GiB.
    static func isTruncatedBeforePixels(_ file: ByteBuffer) -> Bool {
        var rest = file
        guard rest.readSlice(length: 8) != nil else { return false }
        while let type: UInt32 = rest.getInteger(at: rest.readerIndex + 4), type != PNGChunk.pixels {
            guard rest.readPNGChunk() != nil else { return true }
        }
        return false
    }

    /// The most bytes of compressed texts before the pixels that are passed to decoders. For the header, decoders
    /// inflate all of them, each to up to 1000 times as many bytes.
    static let maxTextBytes = 256 << 10

    /// The file as decoders read it: without its compressed texts if these are longer than ``maxTextBytes``, and as
    /// browsers read the transparency of a palette: not before the palette, and with as many entries at most
    /// (§11.3.1.1). A palette that pixels do not use is left out behind the transparent color, and a palette ends with
    /// its last whole color. Decoders refuse all of that. They show colors beyond the palette as black, browsers as its
    /// last color, which is therefore repeated; and they ignore a profile behind `sRGB`, and use one with a wrong
    /// checksum.
    static func readable(_ file: ByteBuffer) -> ByteBuffer {
        let hasPalette = hasPalette(file)
        let mostColors = hasPalette ? mostColors(file) : 0
        var (textBytes, colors): (Int, Int?) = (0, nil)
        var (isWrong, hasTransparency, hasStandardColors) = (false, false, false)
        var unused: UInt32?
        _ = eachChunkBeforePixels(of: file) { chunk in
            switch chunk.type {
            case PNGChunk.palette:
                colors = chunk.length / 3
                isWrong =
                    isWrong || hasTransparency && !hasPalette || hasPalette && !chunk.length.isMultiple(of: 3)
                    || chunk.isShortPalette(for: mostColors)
            case PNGChunk.transparency:
                isWrong = isWrong || hasPalette && chunk.length > colors ?? 0
                hasTransparency = true
            case PNGChunk.standardColors: hasStandardColors = true
            case PNGChunk.profile:
                unused = !chunk.isIntact ? PNGChunk.profile : hasStandardColors ? PNGChunk.standardColors : nil
            default: if chunk.isCompressedText { textBytes += chunk.length }
            }
        }
        guard textBytes > maxTextBytes || isWrong || unused != nil else { return file }
        colors = nil
        var kept = ByteBuffer()
        kept.reserveCapacity(file.readableBytes + 1024)
        kept.writeInteger(signature)
        let rest = eachChunkBeforePixels(of: file) { chunk in
            if chunk.type == unused || chunk.isCompressedText && textBytes > maxTextBytes { return }
            if chunk.type == PNGChunk.palette {
                if isWrong, !hasPalette { return }
                colors = chunk.length / 3
            }
            if chunk.type == PNGChunk.palette, hasPalette, isWrong, chunk.isIntact {
                kept.writePNGChunk(chunk.type, chunk.palette(of: mostColors))
            } else if chunk.type == PNGChunk.transparency, isWrong, hasPalette {
                guard let colors else { return }
                kept.writePNGChunk(chunk.type, chunk.transparency(of: colors, mostColors))
            } else {
                kept.writeImmutableBuffer(chunk.bytes)
            }
        }
        kept.writeImmutableBuffer(rest)
        return kept
    }

    /// The file with an XMP packet in front of its pixels, as the only text with the keyword of XMP (§11.3.3.4).
    static func adding(xmp: ByteBuffer, to file: ByteBuffer) -> ByteBuffer? {
        let pixels = eachChunkBeforePixels(of: file) { _ in }
        guard pixels.getInteger(at: pixels.readerIndex + 4, as: UInt32.self) == PNGChunk.pixels else { return nil }
        // Without compression, language and translated keyword.
        var text = ByteBuffer(string: "XML:com.adobe.xmp\0\0\0\0\0")
        text.writeImmutableBuffer(xmp)
        var whole = ByteBuffer()
        whole.reserveCapacity(file.readableBytes + text.readableBytes + 12)
        whole.writeBytes(file.readableBytesView.dropLast(pixels.readableBytes))
        whole.writePNGChunk(PNGChunk.internationalText, text.readableBytesView)
        whole.writeImmutableBuffer(pixels)
        return whole
    }

    /// The file with an ICC profile behind its header (§11.3.2.3).
    static func adding(profile: ByteBuffer, to file: ByteBuffer) -> ByteBuffer? {
        // Signature and first chunk.
        let header = 8 + 25
        guard let start = file.getSlice(at: file.readerIndex, length: header),
            let rest = file.getSlice(at: file.readerIndex + header, length: file.readableBytes - header)
        else { return nil }
        var content = ByteBuffer(string: "Display P3\0\0")
        content.writeImmutableBuffer(ZlibStream.storing(profile))
        var whole = start
        whole.writePNGChunk(PNGChunk.profile, content.readableBytesView)
        whole.writeImmutableBuffer(rest)
        return whole
    }

    /// Whether there is a C2PA manifest.
    static func hasManifest(_ file: ByteBuffer) -> Bool {
        var isPresent = false
        _ = eachChunkBeforePixels(of: file) { if $0.type == PNGChunk.manifest { isPresent = true } }
        return isPresent
    }

    /// Whether the pixels are indices of a palette (§11.2.1).
    private static func hasPalette(_ file: ByteBuffer) -> Bool {
        file.getInteger(at: file.readerIndex + 25, as: UInt8.self) == 3
    }

    /// The numbers that indices of a palette may be (§11.2.1).
    private static func mostColors(_ file: ByteBuffer) -> Int {
        file.getInteger(at: file.readerIndex + 24, as: UInt8.self).map { 1 << min(Int($0), 8) } ?? 0
    }

    /// The file with its pixels in one chunk with the right checksums; nil unless all pixels are there.
    ///
    /// Decoders refuse a file with a wrong checksum, with other chunks between its pixels, or without its last bytes.
    /// Chunks and pixels each have a checksum: one that is right vouches for the bytes.
    static func withWholePixels(_ file: ByteBuffer) -> ByteBuffer? {
        var header: PNGChunk?
        var isIntact = true
        var kept = ByteBuffer()
        kept.writeInteger(signature)
        var rest = eachChunkBeforePixels(of: file) { chunk in
            if chunk.type == PNGChunk.header { header = chunk }
            if chunk.isCritical, !chunk.isIntact { isIntact = false }
            kept.writeImmutableBuffer(chunk.bytes)
        }
        guard isIntact, let size = header.flatMap({ rasterBytes($0.content) }) else { return nil }
        var pixels = ByteBuffer()
        pixels.reserveCapacity(rest.readableBytes)
        while let chunk = rest.readPNGChunk(orRest: PNGChunk.pixels), chunk.type != PNGChunk.end {
            guard chunk.type == PNGChunk.pixels else { continue }
            pixels.writeBytes(chunk.content)
            isIntact = isIntact && chunk.isIntact
        }
        guard let whole = ZlibStream.whole(pixels, atLeast: size), isIntact || !whole.hasWrongChecksum else {
            return nil
        }
        pixels.moveWriterIndex(to: whole.end)
        // Some writers state a smaller window than their matches need (RFC 1950, §2.2). Without a dictionary, the
        // largest one is always right.
        if let flags: UInt8 = pixels.getInteger(at: pixels.readerIndex + 1), flags & 0x20 == 0 {
            pixels.setBytes([0x78, 0x01], at: pixels.readerIndex)
        }
        pixels.writeInteger(whole.checksum)
        kept.writePNGChunk(PNGChunk.pixels, pixels.readableBytesView)
        kept.writePNGChunk(PNGChunk.end, ByteBuffer().readableBytesView)
        return kept
    }

    /// The samples of a pixel by color type (§11.2.1).
    private static let samples: [UInt8: Int] = [0: 1, 2: 3, 3: 1, 4: 2, 6: 4]

    /// The length of all filtered rows of the image, also in passes (§7.2, §8.2); nil for a header that is not valid.
    private static func rasterBytes(_ header: ByteBufferView) -> Int? {
        var fields = ByteBuffer(header)
        guard let width = fields.readInteger(as: UInt32.self).map({ Int($0) }),
            let height = fields.readInteger(as: UInt32.self).map({ Int($0) }),
            let depth = fields.readInteger(as: UInt8.self).map({ Int($0) }),
            let color = fields.readInteger(as: UInt8.self), let samples = samples[color],
            let interlace = fields.getInteger(at: fields.readerIndex + 2, as: UInt8.self),
            max(width, height) <= SourceHeader.maxSide, depth <= 16
        else { return nil }
        let passes: [(Int, Int, Int, Int)] =
            interlace == 0
            ? [(0, 0, 1, 1)]
            : [
                (0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2),
            ]
        return passes.reduce(0) { (sum: Int, pass) -> Int in
            let columns = (width - pass.0 + pass.2 - 1) / pass.2
            let rows = (height - pass.1 + pass.3 - 1) / pass.3
            return columns > 0 ? sum + rows * (1 + (columns * samples * depth + 7) / 8) : sum
        }
    }

    /// - Returns: the file from its pixels on.
    static func eachChunkBeforePixels(of file: ByteBuffer, _ body: (PNGChunk) -> Void) -> ByteBuffer {
        var rest = file
        guard rest.readInteger(as: UInt64.self) == signature else { return rest }
        var end = rest
        while let chunk = rest.readPNGChunk(), chunk.type != PNGChunk.pixels {
            body(chunk)
            end = rest
        }
        return end
    }

    /// Whether a chunk that decoders need has a wrong checksum (§13.2). libvips reads PNG with libspng on some systems,
    /// which accepts that. Chunks after the first incomplete chunk are not checked: decoders report that chunk.
    ///
    /// - Parameter beforePixels: whether only chunks before the first chunk with pixels are checked, as for a header.
    static func hasWrongChecksum(_ file: ByteBuffer, beforePixels: Bool = false) -> Bool {
        var rest = file
        guard rest.readSlice(length: 8) != nil else { return false }
        while let chunk = rest.readPNGChunk() {
            if beforePixels, chunk.type == PNGChunk.pixels { return false }
            if chunk.isCritical, !chunk.isIntact { return true }
            if chunk.type == PNGChunk.end { return false }
        }
        return false
    }
}

/// A chunk with its length, its type and its checksum (§5.3).
struct PNGChunk {
    let type: UInt32
    /// The length of the content.
    let length: Int
    let bytes: ByteBuffer

    /// `IHDR`, `PLTE`, `tRNS`, `IDAT` and `IEND`.
    static let header: UInt32 = 0x4948_4452
    static let palette: UInt32 = 0x504C_5445
    static let transparency: UInt32 = 0x7452_4E53
    static let pixels: UInt32 = 0x4944_4154
    static let end: UInt32 = 0x4945_4E44
    /// `zTXt` and `iTXt`.
    static let compressedText: UInt32 = 0x7A54_5874
    static let internationalText: UInt32 = 0x6954_5874
    /// `iCCP`.
    static let profile: UInt32 = 0x6943_4350
    /// `sRGB`.
    static let standardColors: UInt32 = 0x7352_4742
    /// `caBX`.
    static let manifest: UInt32 = 0x6361_4258

    var isKept: Bool {
        [Self.header, Self.palette, Self.transparency, Self.pixels, Self.end].contains(type)
    }

    /// Whether a decoder needs the chunk: the first letter of its type is a capital (§5.4).
    var isCritical: Bool { type & 0x2000_0000 == 0 }

    /// Whether the type has four letters, and a decoder may ignore the chunk.
    var isAncillary: Bool {
        let letters = (0..<4).map { UInt8(truncatingIfNeeded: type >> (24 - 8 * $0)) }
        return !isCritical && letters.allSatisfy { (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) }
    }

    /// Whether it is a text that is compressed (§11.3.3). In `iTXt`, a flag follows the keyword of at most 79 bytes and
    /// its final zero.
    var isCompressedText: Bool {
        if type == Self.compressedText { return true }
        guard type == Self.internationalText else { return false }
        let content = bytes.readableBytesView.dropFirst(8).prefix(min(length, 81))
        guard let end = content.firstIndex(of: 0), end + 1 < content.endIndex else { return false }
        return content[end + 1] != 0
    }

    /// The content, or as much of it as the file has.
    var content: ByteBufferView { bytes.readableBytesView.dropFirst(8).prefix(length) }

    /// Whether it is a palette of fewer colors than this.
    func isShortPalette(for count: Int) -> Bool { length >= 3 && length / 3 < count }

    /// The whole colors of a palette, and the last of them up to this number of colors.
    func palette(of count: Int) -> ByteBufferView {
        var colors = ByteBuffer(content.dropLast(length % 3))
        let last = colors.readableBytesView.suffix(3)
        while last.count == 3, colors.readableBytes / 3 < count { colors.writeBytes(last) }
        return colors.readableBytesView
    }

    /// The transparency of a palette that has so many colors, of which the last is repeated up to a number of colors.
    func transparency(of colors: Int, _ count: Int) -> ByteBufferView {
        var values = ByteBuffer(content.prefix(colors))
        if values.readableBytes == colors, let last = values.readableBytesView.last, colors < count {
            values.writeRepeatingByte(last, count: count - colors)
        }
        return values.readableBytesView
    }

    /// Whether the checksum matches type and content.
    var isIntact: Bool {
        let checksum = bytes.withUnsafeReadableBytes {
            Checksum.crc32(UnsafeRawBufferPointer(rebasing: $0[4..<($0.count - 4)]))
        }
        return bytes.getInteger(at: bytes.writerIndex - 4, as: UInt32.self) == checksum
    }
}

extension ByteBuffer {
    /// The next chunk of a PNG; nil if it is incomplete.
    mutating func readPNGChunk() -> PNGChunk? {
        guard let length: UInt32 = getInteger(at: readerIndex), let type: UInt32 = getInteger(at: readerIndex + 4),
            let bytes = readSlice(length: Int(length) + 12)
        else { return nil }
        return PNGChunk(type: type, length: Int(length), bytes: bytes)
    }

    /// The next chunk; what is left of it if it is of this type and incomplete.
    fileprivate mutating func readPNGChunk(orRest type: UInt32) -> PNGChunk? {
        if let chunk = readPNGChunk() { return chunk }
        guard let length: UInt32 = getInteger(at: readerIndex), getInteger(at: readerIndex + 4) == type else {
            return nil
        }
        defer { moveReaderIndex(to: writerIndex) }
        return PNGChunk(type: type, length: Int(length), bytes: self)
    }

    /// Writes a chunk with its length and checksum.
    mutating func writePNGChunk(_ type: UInt32, _ content: ByteBufferView) {
        let start = writerIndex
        writeInteger(UInt32(clamping: content.count))
        writeInteger(type)
        writeBytes(content)
        let checksum = withUnsafeReadableBytes {
            Checksum.crc32(UnsafeRawBufferPointer(rebasing: $0[(start + 4 - readerIndex)...]))
        }
        writeInteger(checksum)
    }
}
