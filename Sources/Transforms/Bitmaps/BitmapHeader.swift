import DarkroomRequests
import NIOCore

/// The header of a device-independent bitmap: a Windows header of version 1 to 5, or one of OS/2. In a BMP it follows
/// the first 14 bytes. Each bitmap of an icon begins with a header.
struct BitmapHeader: Sendable {
    /// The form of the pixels.
    enum Encoding: Hashable, Sendable {
        /// 1, 2, 4 or 8 bits for each pixel: a number in the palette.
        case indices
        /// Runs of numbers of 4 or 8 bits (RLE4, RLE8), or of blue, green and red (RLE24).
        case runs
        /// 16 or 32 bits for each pixel.
        case masked(ColorMasks)
        /// Blue, green and red.
        case triples
    }

    /// The colors that indices refer to.
    struct Palette: Hashable, Sendable {
        /// The first byte, counted from the beginning of the file, as are all positions.
        let start: Int
        /// Colors within the file.
        let count: Int
        /// 3 or 4 for each color.
        let entryBytes: Int
    }

    let size: PixelSize
    let isTopDown: Bool
    let bitsPerPixel: Int
    let encoding: Encoding
    let palette: Palette
    let pixelStart: Int
    /// Whether it is a bitmap in an icon, whose pixels are followed by a second bitmap of one bit: 1 = transparent.
    let isIcon: Bool
    /// Pixels per millimeter; 1 if none are stated.
    let density: (x: Double, y: Double)
    /// The bytes of the embedded ICC profile; nil if the file has none.
    let profile: Range<Int>?

    /// libvips' limit.
    private static let maxSide = 10_000_000

    init(ofFile source: ByteBuffer) throws(ImageProcessingError) {
        try self.init(in: source, at: 14, pixelStart: source.bitmapInteger(at: 10, as: UInt32.self))
    }

    /// - Parameters:
    ///   - start: where the header begins.
    ///   - stated: where the pixels begin; 0 = after the palette, nil = after the palette of an icon's bitmap.
    init(in source: ByteBuffer, at start: Int, pixelStart stated: Int?) throws(ImageProcessingError) {
        isIcon = stated == nil
        let length = source.bitmapInteger(at: start, as: UInt32.self)
        guard let version = Version(headerBytes: length) else { throw .unsupported }
        guard start + length <= source.readableBytes else { throw .corrupt("bitmap ends inside its header") }
        let fields = Fields(source: source, start: start, length: length)
        (size, isTopDown) = try fields.size(version, isIcon: isIcon)
        bitsPerPixel = fields[version == .core ? 10 : 14, UInt16.self]
        let compression = version == .core ? 0 : fields[16, UInt32.self]
        encoding = try Self.encoding(
            version, bitsPerPixel, compression, masks: fields.masks(compression), isIcon: isIcon,
            hasAlpha: length >= 108 && fields.masks(compression).alpha != 0)
        let maskBytes = compression == 3 ? max(0, 52 - length) : compression == 6 ? max(0, 56 - length) : 0
        let (paletteStart, entryBytes) = (start + length + maskBytes, version == .core ? 3 : 4)
        let used = version == .core ? 0 : fields[32, UInt32.self]
        let colors = bitsPerPixel <= 8 ? 1 << bitsPerPixel : 0
        let paletteEnd = paletteStart + (used == 0 ? colors : used) * entryBytes
        pixelStart = stated.flatMap { $0 == 0 ? nil : $0 } ?? paletteEnd
        guard pixelStart >= paletteStart else { throw .corrupt("bitmap's pixels begin inside its header") }
        // Some writers state that the pixels begin where the palette does, which browsers then read as both.
        let end = pixelStart > paletteStart ? min(pixelStart, paletteEnd) : paletteEnd
        let room = max(0, min(end, source.readableBytes) - paletteStart)
        palette = Palette(start: paletteStart, count: min(colors, room / entryBytes), entryBytes: entryBytes)
        density = version == .windows ? fields.density : (1, 1)
        profile = length == 124 ? fields.profile : nil
    }

    private static func encoding(
        _ version: Version, _ bits: Int, _ compression: Int, masks: ColorMasks, isIcon: Bool, hasAlpha: Bool
    ) throws(ImageProcessingError) -> Encoding {
        switch (compression, bits) {
        case (0, 1), (0, 2), (0, 4), (0, 8): return .indices
        case (0, 24): return .triples
        case (0, 16) where version != .core: return .masked(.fiveBits)
        // Browsers ignore the fourth byte of a BMP, which most programs leave 0, unless a header that has masks
        // (version 4 and 5) states alpha.
        case (0, 32) where version != .core: return .masked(isIcon || hasAlpha ? .bytesWithAlpha : .bytes)
        case (1, 8) where !isIcon, (2, 4) where !isIcon, (4, 24) where !isIcon && version == .os2: return .runs
        case (3, 16), (3, 32), (6, 16), (6, 32):
            guard version == .windows else { throw .unsupported }
            return .masked(masks)
        // JPEG and PNG (4, 5), which are for printers, and the compressions of OS/2 and fax.
        default: throw .unsupported
        }
    }

    private enum Version {
        case core, os2, windows

        init?(headerBytes: Int) {
            switch headerBytes {
            case 12: self = .core
            case 40, 52, 56, 108, 124: self = .windows
            case 16...64: self = .os2
            default: return nil
            }
        }
    }

    /// The fields of a header, by their offsets. A field that a shorter header lacks is 0.
    private struct Fields {
        let source: ByteBuffer
        let start: Int
        let length: Int

        subscript<Value: FixedWidthInteger>(offset: Int, type: Value.Type) -> Int {
            guard offset + MemoryLayout<Value>.size <= length else { return 0 }
            return source.bitmapInteger(at: start + offset, as: type)
        }

        /// A negative height means that the first row is the upper one. The height of an icon covers both of its
        /// bitmaps.
        func size(
            _ version: Version, isIcon: Bool
        ) throws(ImageProcessingError) -> (size: PixelSize, isTopDown: Bool) {
            let isCore = version == .core
            let width = isCore ? self[4, UInt16.self] : self[4, Int32.self]
            let stated = isCore ? self[6, UInt16.self] : self[8, Int32.self]
            let height = isIcon ? abs(stated) / 2 : abs(stated)
            guard width > 0, height > 0 else { throw .corrupt("bitmap of \(width) x \(stated) pixels") }
            guard max(width, height) <= BitmapHeader.maxSide else {
                throw .tooLarge(
                    "The source is \(width)x\(height) pixels; "
                        + "at most \(BitmapHeader.maxSide) per side are accepted.")
            }
            return (PixelSize(width: width, height: height), stated < 0)
        }

        /// The masks of version 1 follow the header, at the place where later versions have them.
        func masks(_ compression: Int) -> ColorMasks {
            func mask(_ offset: Int) -> UInt32 {
                UInt32(truncatingIfNeeded: source.bitmapInteger(at: start + offset, as: UInt32.self))
            }
            return ColorMasks(
                red: mask(40), green: mask(44), blue: mask(48), alpha: length >= 56 || compression == 6 ? mask(52) : 0)
        }

        /// The file states pixels per meter.
        var density: (x: Double, y: Double) {
            let (x, y) = (self[24, Int32.self], self[28, Int32.self])
            return x > 0 && y > 0 ? (Double(x) / 1000, Double(y) / 1000) : (1, 1)
        }

        var profile: Range<Int>? {
            let embedded = 0x4D42_4544
            let (first, count) = (start + self[112, UInt32.self], self[116, UInt32.self])
            guard self[56, UInt32.self] == embedded, count > 0, first + count <= source.readableBytes else {
                return nil
            }
            return first..<first + count
        }
    }

    /// Bytes of pixels in a row; rows are padded to `rowStride`.
    var rowBytes: Int { (size.width * bitsPerPixel + 7) / 8 }
    var rowStride: Int { (size.width * bitsPerPixel + 31) / 32 * 4 }
    /// The bytes of a row in the mask that follows an icon's pixels.
    var maskRowBytes: Int { (size.width + 7) / 8 }
    var maskRowStride: Int { (size.width + 31) / 32 * 4 }
    var maskStart: Int { pixelStart + rowStride * size.height }
    /// Where the mask ends, without padding.
    var maskEnd: Int { maskStart + maskRowStride * (size.height - 1) + maskRowBytes }

    /// Whether a pixel may be transparent.
    var hasAlpha: Bool {
        switch encoding {
        case .masked(let masks): isIcon || masks.alpha != 0
        case .indices, .triples, .runs: isIcon
        }
    }

    /// The channels of the decoded image.
    var bands: Int { hasAlpha ? 4 : 3 }

    /// Throws if the file ends before the last row. Where runs end is known only once they are decoded.
    func requireEveryRow(in source: ByteBuffer) throws(ImageProcessingError) {
        // Many writers leave out the mask of a bitmap that has alpha, and some the mask of any.
        let hasMask = isIcon && bitsPerPixel != 32 && maskStart < source.readableBytes
        let end = hasMask ? maskEnd : pixelStart + rowStride * (size.height - 1) + rowBytes
        guard encoding == .runs || end <= source.readableBytes else {
            throw .corrupt("bitmap ends before its last row")
        }
    }

    /// Row `y`, counted from the top, in the file's order of rows.
    func storedRow(_ y: Int) -> Int { isTopDown ? y : size.height - 1 - y }
}

extension ByteBuffer {
    /// A little-endian integer at this distance from the first byte; 0 past the end.
    func bitmapInteger<Value: FixedWidthInteger>(at offset: Int, as type: Value.Type) -> Int {
        Int(getInteger(at: readerIndex + offset, endianness: .little, as: type) ?? 0)
    }
}

/// The bits of a bitmap's pixel that state each channel; 0 = no bits.
struct ColorMasks: Hashable, Sendable {
    var red: UInt32
    var green: UInt32
    var blue: UInt32
    var alpha: UInt32 = 0

    /// Five bits each, the meaning of 16 bits without masks.
    static let fiveBits = ColorMasks(red: 0x7C00, green: 0x03E0, blue: 0x001F)
    static let bytes = ColorMasks(red: 0xFF_0000, green: 0xFF00, blue: 0xFF)
    static let bytesWithAlpha = ColorMasks(red: 0xFF_0000, green: 0xFF00, blue: 0xFF, alpha: 0xFF00_0000)
}

/// Reads one channel of a pixel as 8 bits. A channel of more bits loses its lower bits.
struct MaskedChannel {
    private let mask: UInt32
    private let shift: UInt32
    private let samples: [UInt8]

    /// - Parameter mask: its bits need not be contiguous; without any, the channel is always 0.
    init(_ mask: UInt32) {
        self.mask = mask
        guard mask != 0 else {
            (shift, samples) = (0, [0])
            return
        }
        let end = 32 - mask.leadingZeroBitCount
        let kept = min(end - mask.trailingZeroBitCount, 8)
        shift = UInt32(end - kept)
        let most = (1 << kept) - 1
        samples = (0...most).map { UInt8(($0 * 255 + most / 2) / most) }
    }

    func sample(of pixel: UInt32) -> UInt8 { samples[Int((pixel & mask) >> shift)] }
}
