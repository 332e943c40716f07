import NIOCore

/// The blocks of a GIF file (GIF89a §12-26): one pass over a file that copies the blocks that draw something.
struct GIFContainer {
    private var rest: ByteBuffer
    private var kept = ByteBuffer()
    private var screen: (width: UInt16, height: UInt16) = (0, 0)
    /// The graphic control extension of the next image.
    private var control: ByteBuffer?
    private var hasLoops = false
    private var hasImage = false

    /// The file with only screen, color tables, images with their timing, and the number of loops. Comments, data of
    /// other applications, such as XMP, and bytes after the trailer are removed.
    ///
    /// Returns nil for a file with plain text, with images outside of its screen, or without a trailer.
    static func stripped(_ file: ByteBuffer) -> ByteBuffer? {
        var walk = GIFContainer(rest: file)
        return walk.strippedFile()
    }

    /// Whether the file ends inside a block. libvips drops an incomplete last frame without an error, so truncation is
    /// found here. A missing trailer is accepted, since many complete files lack it.
    static func isTruncated(_ file: ByteBuffer) -> Bool {
        var rest = file
        guard rest.readSlice(length: 10) != nil, rest.skipGIFColors(behind: 2) else { return true }
        while let introducer = rest.readInteger(as: UInt8.self) {
            switch introducer {
            case Block.extensions:
                guard rest.readSlice(length: 1) != nil, rest.skipGIFSubBlocks() else { return true }
            case Block.image: guard rest.readGIFImage() != nil else { return true }
            default: return false
            }
        }
        return false
    }

    private mutating func strippedFile() -> ByteBuffer? {
        kept.reserveCapacity(rest.readableBytes)
        guard keepScreen() else { return nil }
        while let introducer = rest.readInteger(as: UInt8.self) {
            switch introducer {
            case Block.extensions: guard keepExtension() else { return nil }
            case Block.image: guard keepImage() else { return nil }
            case Block.trailer:
                guard hasImage, control == nil else { return nil }
                kept.writeInteger(Block.trailer)
                return kept
            default: return nil
            }
        }
        return nil
    }

    /// Signature, logical screen and global color table.
    private mutating func keepScreen() -> Bool {
        let start = rest
        guard ["GIF87a", "GIF89a"].contains(rest.readString(length: 6)),
            let width = rest.readInteger(endianness: .little, as: UInt16.self),
            let height = rest.readInteger(endianness: .little, as: UInt16.self),
            rest.skipGIFColors(behind: 2)
        else { return false }
        screen = (width, height)
        keep(from: start)
        return true
    }

    private mutating func keepExtension() -> Bool {
        let start = rest
        guard let label = rest.readInteger(as: UInt8.self) else { return false }
        switch label {
        case Block.control:
            guard control == nil, rest.readInteger(as: UInt8.self) == 4, rest.readSlice(length: 4) != nil,
                rest.readInteger(as: UInt8.self) == 0
            else { return false }
            control = start.getSlice(at: start.readerIndex, length: 7)
            return true
        case Block.application: return keepApplication(start)
        case Block.comment: return rest.skipGIFSubBlocks()
        default: return false
        }
    }

    /// Netscape's number of loops, the only application data that changes the visible image.
    private mutating func keepApplication(_ start: ByteBuffer) -> Bool {
        guard rest.readInteger(as: UInt8.self) == 11, let name = rest.readString(length: 11) else { return false }
        guard ["NETSCAPE2.0", "ANIMEXTS1.0"].contains(name) else { return rest.skipGIFSubBlocks() }
        guard !hasLoops, rest.readInteger(as: UInt16.self) == 0x0301, rest.readSlice(length: 2) != nil,
            rest.readInteger(as: UInt8.self) == 0
        else { return false }
        hasLoops = true
        kept.writeInteger(Block.extensions)
        keep(from: start)
        return true
    }

    private mutating func keepImage() -> Bool {
        let start = rest
        guard let place = rest.readGIFImage(), Int(place.left) + Int(place.width) <= screen.width,
            Int(place.top) + Int(place.height) <= screen.height
        else { return false }
        if let control {
            kept.writeInteger(Block.extensions)
            kept.writeImmutableBuffer(control)
        }
        control = nil
        kept.writeInteger(Block.image)
        keep(from: start)
        hasImage = true
        return true
    }

    /// Copies the bytes that have been read since `start`.
    private mutating func keep(from start: ByteBuffer) {
        guard let read = start.getSlice(at: start.readerIndex, length: start.readableBytes - rest.readableBytes) else {
            return
        }
        kept.writeImmutableBuffer(read)
    }

    /// What follows a packet of XMP, so that decoders find their way out of bytes that are no sub-blocks, in whichever
    /// byte they end up (ISO 16684-3).
    private static let xmpEnd: [UInt8] = [1] + (0...255).reversed() + [0]
    private static let xmpName = "XMP DataXMP"

    /// The file with an XMP packet behind its images; nil for the version of GIF without extensions.
    static func adding(xmp: ByteBuffer, to file: ByteBuffer) -> ByteBuffer? {
        guard file.getString(at: file.readerIndex, length: 6) == "GIF89a",
            file.readableBytesView.last == Block.trailer
        else { return nil }
        var whole = ByteBuffer()
        whole.reserveCapacity(file.readableBytes + xmp.readableBytes + xmpEnd.count + 16)
        whole.writeBytes(file.readableBytesView.dropLast())
        whole.writeBytes([Block.extensions, Block.application, 11])
        whole.writeString(xmpName)
        whole.writeImmutableBuffer(xmp)
        whole.writeBytes(xmpEnd)
        whole.writeInteger(Block.trailer)
        return whole
    }

    /// The XMP packet of a file; nil = none.
    static func xmp(of file: ByteBuffer) -> ByteBuffer? {
        guard let data = application(xmpName, in: file), data.readableBytes > xmpEnd.count else { return nil }
        return data.getSlice(at: data.readerIndex, length: data.readableBytes - xmpEnd.count)
    }

    /// Whether there is a C2PA manifest.
    static func hasManifest(_ file: ByteBuffer) -> Bool { application("C2PA_GIF\u{1}\0\0", in: file) != nil }

    /// The data of an application, with the lengths of its sub-blocks.
    private static func application(_ name: String, in file: ByteBuffer) -> ByteBuffer? {
        var rest = file
        guard rest.readSlice(length: 10) != nil, rest.skipGIFColors(behind: 2) else { return nil }
        while let introducer = rest.readInteger(as: UInt8.self) {
            switch introducer {
            case Block.extensions:
                guard let label = rest.readInteger(as: UInt8.self) else { return nil }
                var data = rest
                guard rest.skipGIFSubBlocks() else { return nil }
                if label == Block.application, data.readInteger(as: UInt8.self) == 11,
                    data.readString(length: 11) == name
                {
                    return data.getSlice(at: data.readerIndex, length: rest.readerIndex - data.readerIndex)
                }
            case Block.image: guard rest.readGIFImage() != nil else { return nil }
            default: return nil
            }
        }
        return nil
    }

    enum Block {
        static let extensions: UInt8 = 0x21
        static let image: UInt8 = 0x2C
        static let trailer: UInt8 = 0x3B
        static let control: UInt8 = 0xF9
        static let comment: UInt8 = 0xFE
        static let application: UInt8 = 0xFF
    }

    /// The place of an image on the screen.
    struct Place {
        var left: UInt16
        var top: UInt16
        var width: UInt16
        var height: UInt16
    }
}

extension ByteBuffer {
    /// Reads an image behind its introducer: descriptor, local color table, code size and codes (§20-22). Nil if the
    /// GIF ends earlier.
    mutating func readGIFImage() -> GIFContainer.Place? {
        let sides = readMultipleIntegers(endianness: .little, as: (UInt16, UInt16, UInt16, UInt16).self)
        guard let (left, top, width, height) = sides, skipGIFColors(behind: 0), readSlice(length: 1) != nil,
            skipGIFSubBlocks()
        else { return nil }
        return GIFContainer.Place(left: left, top: top, width: width, height: height)
    }

    /// Reads a byte of flags, `behind` more bytes, and the color table that the flags declare; false if the GIF ends
    /// earlier.
    mutating func skipGIFColors(behind: Int) -> Bool {
        guard let flags = readInteger(as: UInt8.self) else { return false }
        let colors = flags & 0x80 == 0 ? 0 : 2 << Int(flags & 7)
        return readSlice(length: behind + 3 * colors) != nil
    }

    /// Reads sub-blocks up to their terminator; false if the GIF ends earlier.
    mutating func skipGIFSubBlocks() -> Bool {
        while let length = readInteger(as: UInt8.self) {
            if length == 0 { return true }
            guard readSlice(length: Int(length)) != nil else { return false }
        }
        return false
    }
}

/// The codes of a GIF's image (GIF89a, Appendix F), which are counted without drawing them.
///
/// libvips leaves pixels without codes as they are, and reports nothing.
enum GIFCodes {
    /// Whether an image has codes for only a part of its pixels. False for codes that are not valid, which libvips
    /// reports.
    ///
    /// - Parameter image: the file behind the introducer of the image.
    static func lackPixels(ofImage image: ByteBuffer) -> Bool {
        var rest = image
        guard
            let (_, _, width, height) = rest.readMultipleIntegers(
                endianness: .little, as: (UInt16, UInt16, UInt16, UInt16).self),
            rest.skipGIFColors(behind: 0), let bits = rest.readInteger(as: UInt8.self),
            (1..<maxBits).contains(Int(bits))
        else { return false }
        var count = Count(pixels: Int(width) * Int(height), bits: Int(bits))
        while count.isUndecided, let length = rest.readInteger(as: UInt8.self), length > 0 {
            let block = rest.readSlice(length: min(Int(length), rest.readableBytes))
            block?.withUnsafeReadableBytes { count.read($0) }
        }
        return count.isValid && count.missing > 0
    }

    /// The most bits of a code.
    private static let maxBits = 12

    /// The pixels of an image that its codes have not given so far.
    private struct Count {
        private(set) var missing: Int
        private(set) var isValid = true
        private var hasEnded = false
        private let clear: Int
        /// The pixels that a code stands for.
        private var lengths = [UInt16](repeating: 1, count: 1 << maxBits)
        /// The code that is defined next.
        private var next: Int
        private var width: Int
        private var previous: Int?
        private var (bits, bitCount): (UInt32, Int) = (0, 0)

        init(pixels: Int, bits: Int) {
            (missing, clear) = (pixels, 1 << bits)
            (next, width) = (clear + 2, bits + 1)
        }

        var isUndecided: Bool { isValid && !hasEnded && missing > 0 }

        /// Reads a block. In one loop without calls, since most GIFs are read for this.
        mutating func read(_ block: UnsafeRawBufferPointer) {
            lengths.withUnsafeMutableBufferPointer { lengths in
                for byte in block {
                    bits |= UInt32(byte) << UInt32(bitCount)
                    bitCount += 8
                    while bitCount >= width {
                        let code = Int(bits & (1 << UInt32(width) - 1))
                        bits >>= UInt32(width)
                        bitCount -= width
                        if code == clear {
                            (next, previous) = (clear + 2, nil)
                            width = clear.trailingZeroBitCount + 1
                            continue
                        }
                        hasEnded = code == clear + 1
                        guard !hasEnded else { return }
                        isValid = previous == nil ? code < clear : code < next || code == next && next < lengths.count
                        guard isValid else { return }
                        if let previous, next < lengths.count {
                            lengths[next] = lengths[previous] + 1
                            next += 1
                            if next == 1 << width, width < maxBits { width += 1 }
                        }
                        missing -= Int(lengths[code])
                        previous = code
                        guard missing > 0 else { return }
                    }
                }
            }
        }
    }
}
