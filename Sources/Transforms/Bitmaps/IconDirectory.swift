import DarkroomRequests
import NIOCore

/// The images in an icon (ICO) or a cursor (CUR): bitmaps and PNGs that show one motif in several sizes and depths.
///
/// Sizes and depths come from the images themselves. The values in the directory count for damaged images only: a width
/// of 256 does not fit into its byte, and other values are often wrong.
struct IconDirectory: Sendable {
    struct Entry: Sendable {
        enum Format: Sendable {
            case bitmap(BitmapHeader)
            case png
        }

        /// The offset of its first byte in the file.
        let start: Int
        let size: PixelSize
        let bitsPerPixel: Int
        let format: Format
    }

    /// The images in a known format, in the order of the file; at least one.
    let entries: [Entry]

    static let maxEntries = 256
    private static let headerBytes = 6
    private static let entryBytes = 16

    /// Whether the bytes begin with the directory of an icon or cursor.
    ///
    /// - Parameter head: the first 22 bytes.
    static func matches(_ head: [UInt8]) -> Bool {
        head.count >= headerBytes + entryBytes && head[0] == 0 && head[1] == 0 && (1...2).contains(head[2])
            && head[3] == 0 && (head[4], head[5]) != (0, 0)
    }

    /// Reads the directory and the header of each image. An image that is not within the file is left out if a whole
    /// one has more pixels than the directory states for it, and is an error otherwise. Throws `.unsupported` if no
    /// image has a known format.
    init(of source: ByteBuffer) throws(ImageProcessingError) {
        let count = source.bitmapInteger(at: 4, as: UInt16.self)
        let end = Self.headerBytes + count * Self.entryBytes
        guard end <= source.readableBytes else { throw .corrupt("icon ends inside its directory") }
        guard count <= Self.maxEntries else {
            throw .tooLarge("The icon has \(count) images; at most \(Self.maxEntries) are accepted.")
        }
        var entries: [Entry] = []
        var damaged: [(area: Int, error: ImageProcessingError)] = []
        for index in 0..<count {
            let place = Self.headerBytes + index * Self.entryBytes
            let (length, start) = (
                source.bitmapInteger(at: place + 8, as: UInt32.self),
                source.bitmapInteger(at: place + 12, as: UInt32.self)
            )
            do throws(ImageProcessingError) {
                guard start >= end, start < source.readableBytes else { throw .corrupt("icon points outside itself") }
                if let entry = try Entry(in: source, at: start, length: length) { entries.append(entry) }
            } catch {
                damaged.append((Self.statedArea(in: source, at: place), error))
            }
        }
        let largest = entries.lazy.map(\.size.area).max() ?? 0
        if let shown = damaged.first(where: { $0.area >= largest }) { throw shown.error }
        guard !entries.isEmpty else { throw .unsupported }
        self.entries = entries
    }

    /// The pixels of an image by its entry in the directory, in which 0 is a side of 256.
    private static func statedArea(in source: ByteBuffer, at place: Int) -> Int {
        let sides = (0...1).map { source.bitmapInteger(at: place + $0, as: UInt8.self) }.map { $0 == 0 ? 256 : $0 }
        return sides[0] * sides[1]
    }

    /// The image with the most pixels. Of several such images, the first one with the most bits per pixel.
    var largest: Int {
        entries.indices.min { left, right in
            let (left, right) = (entries[left], entries[right])
            return (left.size.area, left.bitsPerPixel) > (right.size.area, right.bitsPerPixel)
        } ?? 0
    }

    /// The largest or the smallest image, if ``PageSelection/first`` names it; nil for a number.
    func index(ofPage page: Int) -> Int? {
        switch page {
        case PageSelection.largest: largest
        case PageSelection.smallest: smallest(of: entries.indices)
        default: nil
        }
    }

    /// The image with the fewest pixels. Of several such images, the first one with the most bits per pixel.
    private func smallest(of indices: some Sequence<Int>) -> Int? {
        indices.min { left, right in
            let (left, right) = (entries[left], entries[right])
            return (left.size.area, -left.bitsPerPixel) < (right.size.area, -right.bitsPerPixel)
        }
    }

    /// The smallest image that is at least this large, because icons often have images drawn for small sizes. Of
    /// several images of that size, the first one with the most bits per pixel. Only images in the proportions of the
    /// largest image count; if none is large enough, the largest is returned.
    func index(covering target: PixelSize) -> Int {
        let largest = largest
        let whole = entries[largest].size
        let suitable = entries.indices.filter { index in
            let size = entries[index].size
            return size.width >= target.width && size.height >= target.height
                && size.width * whole.height == size.height * whole.width
        }
        return smallest(of: suitable) ?? largest
    }
}

extension IconDirectory.Entry {
    /// Nil for an unknown format. The length in the directory is used for a PNG only: a bitmap states its own end.
    fileprivate init?(in source: ByteBuffer, at start: Int, length: Int) throws(ImageProcessingError) {
        self.start = start
        let first = source.readerIndex + start
        if source.getInteger(at: first, as: UInt64.self) == PNGContainer.signature {
            guard start + length <= source.readableBytes,
                let width = source.getInteger(at: first + 16, as: UInt32.self),
                let height = source.getInteger(at: first + 20, as: UInt32.self)
            else { throw .corrupt("icon ends inside a PNG") }
            // PNG §7.1; products of larger sides would overflow.
            let sides = 1...UInt32(Int32.max)
            guard sides.contains(width), sides.contains(height) else {
                throw .corrupt("icon has a PNG of an impossible size")
            }
            (size, bitsPerPixel, format) = (PixelSize(width: Int(width), height: Int(height)), 32, .png)
            return
        }
        do throws(ImageProcessingError) {
            let header = try BitmapHeader(in: source, at: start, pixelStart: nil)
            try header.requireEveryRow(in: source)
            (size, bitsPerPixel, format) = (header.size, header.bitsPerPixel, .bitmap(header))
        } catch {
            guard error == .unsupported else { throw error }
            return nil
        }
    }
}
