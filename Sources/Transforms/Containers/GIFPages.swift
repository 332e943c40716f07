import NIOCore

/// A GIF as libvips has to read it to show what browsers show, and the pages of its frames.
///
/// In libvips 8.14, pixels that the first frame does not give are black unless some frame has a transparent color,
/// frames whose area is to be cleared leave the background color unless they have one, and screens of some sizes, such
/// as 640×480, become as small as the first frame. Therefore frames that draw nothing are added: one before the first
/// frame, which covers the screen, and one after each frame to be cleared, which clears the same area instead. Both
/// have a transparent color.
///
/// Where pixels may have numbers beyond their color table, it gets black colors up to the last number: libvips shows
/// none there if the file has a transparent color.
struct GIFPages: Hashable, Sendable {
    /// The file itself if no frame had to be added.
    let bytes: ByteBuffer
    /// The frames in the file.
    let count: Int
    /// The page of each frame, counted from 0; nil = pages are frames.
    private let pages: [Int]?

    /// Whether frames were added.
    var isChanged: Bool { pages != nil }

    /// The most pages that libvips reads.
    static let maxPages = 4097

    init(_ file: ByteBuffer) {
        guard let screen = Screen(file) else {
            (bytes, count, pages) = (file, 0, nil)
            return
        }
        count = screen.count
        guard count <= Self.maxPages, let changed = screen.withAddedFrames(), changed.pages.last ?? 0 < Self.maxPages
        else {
            (bytes, pages) = (file, nil)
            return
        }
        (bytes, pages) = (changed.bytes, changed.pages)
    }

    /// The page of a frame, both counted from 0. A frame that the file does not have is a page that it does not have.
    func page(of frame: Int) -> Int {
        guard let pages else { return frame }
        return frame < pages.count ? pages[frame] : Self.maxPages
    }
}

/// The places of a file's frames.
private struct Screen {
    struct Frame {
        /// The offset after the introducer of its image.
        let start: Int
        /// The offset after its last byte.
        let end: Int
        let place: GIFContainer.Place
        /// The offset of the flags of its graphic control extension; nil = it has none.
        let flags: Int?
        let disposal: UInt8
        let isTransparent: Bool
        /// The color table of the frame; nil = it has none.
        let table: Table?
        /// The bits of the numbers of its pixels' colors.
        let bits: Int
    }

    /// A color table, with the offset of its flags and the offset after its last byte.
    struct Table {
        let flags: Int
        let end: Int
        let colors: Int

        /// Nil if these flags declare none.
        init?(flags value: UInt8, at flags: Int, behind: Int) {
            guard value & 0x80 != 0 else { return nil }
            (self.flags, colors) = (flags, 2 << Int(value & 7))
            end = flags + 1 + behind + 3 * colors
        }

        /// Whether numbers of this many bits may be beyond the table. Tables of two colors have numbers of two bits
        /// too (GIF89a, Appendix F).
        func isExceeded(by bits: Int) -> Bool { 1 << bits > max(colors, 4) }
    }

    let file: ByteBuffer
    private(set) var count = 0
    /// The first frames, one more than libvips reads pages at most.
    private(set) var frames: [Frame] = []
    private var width: Int
    private var height: Int
    /// The offset after the global color table.
    private let body: Int
    private let table: Table?

    /// Reads the blocks up to the trailer, or to the first block that is damaged or unknown. Nil for a file without a
    /// complete screen.
    init?(_ file: ByteBuffer) {
        self.file = file
        var rest = file
        guard rest.readSlice(length: 6) != nil, let width = rest.readInteger(endianness: .little, as: UInt16.self),
            let height = rest.readInteger(endianness: .little, as: UInt16.self), rest.skipGIFColors(behind: 2)
        else { return nil }
        (self.width, self.height) = (Int(width), Int(height))
        body = rest.readerIndex - file.readerIndex
        table = file.getInteger(at: file.readerIndex + 10, as: UInt8.self).flatMap {
            Table(flags: $0, at: 10, behind: 2)
        }
        while let frame = Frame(reading: &rest, of: file) {
            count += 1
            if frames.count <= GIFPages.maxPages { frames.append(frame) }
        }
        // The first frame enlarges the screen.
        if let first = frames.first?.place {
            self.width = max(self.width, Int(first.left) + Int(first.width))
            self.height = max(self.height, Int(first.top) + Int(first.height))
        }
    }

    /// The file with added frames and colors, and the page of each frame; nil if none has to be added.
    func withAddedFrames() -> (bytes: ByteBuffer, pages: [Int])? {
        let clearing = Set(frames.indices.dropLast().filter { frames[$0].disposal == 2 && !frames[$0].isTransparent })
        let needsScreen = needsScreen(clears: !clearing.isEmpty)
        let isTransparent = needsScreen || !clearing.isEmpty || frames.contains(where: \.isTransparent)
        let exceeding = frames.filter { ($0.table ?? table)?.isExceeded(by: $0.bits) ?? false }
        let needsColors = isTransparent && !exceeding.isEmpty
        guard needsScreen || needsColors || !clearing.isEmpty else { return nil }
        var copy = Copy(file: file)
        copy.made.reserveCapacity(file.readableBytes + (clearing.count + 1) * Self.addedBytes)
        if needsColors, let table, exceeding.contains(where: { $0.table == nil }) { copy.fill(table) }
        copy.copy(to: body)
        if needsScreen, let width = UInt16(exactly: width), let height = UInt16(exactly: height) {
            copy.made.writeEmptyFrame(GIFContainer.Place(left: 0, top: 0, width: width, height: height), disposal: 0)
        }
        var pages: [Int] = []
        var page = needsScreen ? 1 : 0
        for (index, frame) in frames.enumerated() {
            pages.append(page)
            page += 1
            let clears = clearing.contains(index)
            if clears, let flags = frame.flags { copy.change(flags) { $0 & ~0x1C | 0x04 } }
            if needsColors, let table = frame.table, table.isExceeded(by: frame.bits) { copy.fill(table) }
            guard clears, frame.flags != nil else { continue }
            copy.copy(to: frame.end)
            copy.made.writeEmptyFrame(frame.place, disposal: 2)
            page += 1
        }
        copy.copy(to: file.readableBytes)
        return (copy.made, pages)
    }

    /// A file that is copied from its beginning on, with changes.
    private struct Copy {
        let file: ByteBuffer
        var made = ByteBuffer()
        private var copied = 0

        init(file: ByteBuffer) { self.file = file }

        mutating func copy(to end: Int) {
            made.writeBytes(file.readableBytesView.dropFirst(copied).prefix(end - copied))
            copied = end
        }

        /// Copies up to a byte, and writes another in its place.
        mutating func change(_ place: Int, _ changed: (UInt8) -> UInt8) {
            copy(to: place)
            made.writeInteger(changed(file.getInteger(at: file.readerIndex + place, as: UInt8.self) ?? 0))
            copied += 1
        }

        /// Copies up to the end of a color table, and makes it one of 256 colors.
        mutating func fill(_ table: Table) {
            change(table.flags) { $0 | 7 }
            copy(to: table.end)
            made.writeRepeatingByte(0, count: 3 * (256 - table.colors))
        }
    }

    /// - Parameter clears: whether frames with a transparent color are added that clear areas.
    private func needsScreen(clears: Bool) -> Bool {
        guard let first = frames.first, width <= UInt16.max, height <= UInt16.max else { return false }
        let place = first.place
        let covers =
            place.left == 0 && place.top == 0 && place.width == width && place.height == height
        if !covers, isShrunk { return true }
        if clears || frames.contains(where: \.isTransparent) { return false }
        return !covers || frames.count > 1 && (3...4).contains(first.disposal) || lacksPixels(first)
    }

    /// Whether a frame has codes for only a part of its pixels.
    private func lacksPixels(_ frame: Frame) -> Bool {
        file.getSlice(at: file.readerIndex + frame.start, length: frame.end - frame.start)
            .map(GIFCodes.lackPixels) ?? false
    }

    /// Whether libvips ignores the size of the screen.
    private var isShrunk: Bool {
        width > 2048 || height > 2048
            || [(640, 480), (640, 512), (800, 600), (1024, 768), (1280, 1024), (1600, 1200)].contains {
                $0 == (width, height)
            }
    }

    /// An upper bound of the length of an added frame.
    private static let addedBytes = 32
}

extension Screen.Frame {
    /// Reads extensions and the image after them; nil at the trailer, and if the image is incomplete.
    fileprivate init?(reading rest: inout ByteBuffer, of file: ByteBuffer) {
        var (flags, isTransparent): (Int?, Bool) = (nil, false)
        var value: UInt8 = 0
        while rest.getInteger(at: rest.readerIndex, as: UInt8.self) == GIFContainer.Block.extensions {
            let label = rest.getInteger(at: rest.readerIndex + 1, as: UInt8.self)
            if label == GIFContainer.Block.control,
                let found = rest.getInteger(at: rest.readerIndex + 3, as: UInt8.self)
            {
                (flags, value) = (rest.readerIndex + 3 - file.readerIndex, found)
                isTransparent = isTransparent || found & 1 != 0
            }
            guard rest.readSlice(length: 2) != nil, rest.skipGIFSubBlocks() else { return nil }
        }
        guard rest.readInteger(as: UInt8.self) == GIFContainer.Block.image else { return nil }
        start = rest.readerIndex - file.readerIndex
        let place = start + 8
        let table = rest.getInteger(at: rest.readerIndex + 8).flatMap { Screen.Table(flags: $0, at: place, behind: 0) }
        let bits: UInt8? = file.getInteger(at: file.readerIndex + (table?.end ?? place + 1))
        guard let bits, let image = rest.readGIFImage() else { return nil }
        (self.place, self.table, self.bits) = (image, table, min(Int(bits), 8))
        end = rest.readerIndex - file.readerIndex
        (self.flags, self.isTransparent, disposal) = (flags, isTransparent, value >> 2 & 7)
    }
}

extension ByteBuffer {
    /// Writes a frame of which no pixel is visible: its only pixel has the transparent color.
    fileprivate mutating func writeEmptyFrame(_ place: GIFContainer.Place, disposal: UInt8) {
        writeBytes([GIFContainer.Block.extensions, GIFContainer.Block.control, 4, disposal << 2 | 1, 0, 0, 0, 0])
        writeInteger(GIFContainer.Block.image)
        for number in [place.left, place.top, place.width, place.height] {
            writeInteger(number, endianness: .little)
        }
        // No color table; codes of 3 bits: clear, the color 0, end.
        writeBytes([0, 2, 2, 0x44, 0x01, 0])
    }
}
