import NIOCore

/// The index of the images in a JPEG file (Multi-Picture Format, CIPA DC-007 §5.2).
enum MultiPictureIndex {
    /// The images behind the first one, as far as they lie within the file and begin as a JPEG; at most eight.
    static func furtherImages(in file: ByteBuffer) -> [ByteBuffer] {
        var images: [ByteBuffer] = []
        JPEGContainer.eachSegmentBeforePixels(of: file) { marker, content, offset in
            guard marker == JPEGContainer.Marker.profile, images.isEmpty,
                content.readableBytesView.starts(with: name)
            else { return }
            // Offsets count from the byte order.
            var index = content
            index.moveReaderIndex(forwardBy: name.count)
            images = entries(of: index.slice()).dropFirst().compactMap { entry in
                let place = file.readerIndex + offset + name.count + Int(entry.offset)
                guard let image = file.getSlice(at: place, length: Int(entry.size)),
                    image.readableBytesView.starts(with: [0xFF, 0xD8, 0xFF])
                else { return nil }
                return image
            }
        }
        return images
    }

    /// The file followed by another image, which its index lists; nil if it is in an unexpected form.
    static func joining(_ first: ByteBuffer, _ second: ByteBuffer) -> ByteBuffer? {
        guard let place = JPEGContainer.endOfMetadata(of: first) else { return nil }
        // Marker and length precede the content.
        let start = place + 4 + name.count
        let size = first.readableBytes + 4 + name.count + length
        guard let whole = UInt32(exactly: size), let other = UInt32(exactly: second.readableBytes) else { return nil }
        var index = ByteBuffer()
        index.writeMultipleIntegers(UInt32(0x4D4D_002A), UInt32(8), UInt16(3))
        index.writeMultipleIntegers(Tag.version, UInt16(7), UInt32(4))
        index.writeString("0100")
        index.writeMultipleIntegers(Tag.count, UInt16(4), UInt32(1), UInt32(2))
        index.writeMultipleIntegers(Tag.entries, UInt16(7), UInt32(2 * entryLength), UInt32(length - 2 * entryLength))
        // No further directory.
        index.writeInteger(UInt32(0))
        // A primary image in JPEG, and another one.
        index.writeMultipleIntegers(UInt32(0x0003_0000), whole, UInt32(0), UInt32(0))
        index.writeMultipleIntegers(UInt32(0), other, UInt32(size - start), UInt32(0))
        guard
            var file = JPEGContainer.adding(JPEGContainer.Marker.profile, name, index, to: first)
        else { return nil }
        file.writeImmutableBuffer(second)
        return file
    }

    private struct Entry {
        let size: UInt32
        let offset: UInt32
    }

    private enum Tag {
        static let version: UInt16 = 0xB000
        static let count: UInt16 = 0xB001
        static let entries: UInt16 = 0xB002
    }

    private static let name = Array("MPF\0".utf8)
    private static let maxImages = 8
    private static let entryLength = 16
    /// A header, a directory of three fields, and two entries.
    private static let length = 8 + 2 + 3 * 12 + 4 + 2 * entryLength

    /// The entries of the first images, in an index without its name.
    private static func entries(of index: ByteBuffer) -> [Entry] {
        let order: Endianness = index.getInteger(at: 0, as: UInt16.self) == 0x4949 ? .little : .big
        func number(_ place: Int) -> UInt32? { index.getInteger(at: place, endianness: order) }
        func short(_ place: Int) -> UInt16? { index.getInteger(at: place, endianness: order) }
        guard let directory = number(4).map({ Int($0) }), let count = short(directory) else { return [] }
        let field = (0..<Int(count)).lazy.map { directory + 2 + 12 * $0 }.first { short($0) == Tag.entries }
        guard let field, let bytes = number(field + 4), let offset = number(field + 8).map({ Int($0) }) else {
            return []
        }
        // The first image is listed too.
        return (0..<min(Int(bytes) / entryLength, maxImages + 1)).compactMap { index in
            let place = offset + index * entryLength
            guard let size = number(place + 4), let offset = number(place + 8) else { return nil }
            return Entry(size: size, offset: offset)
        }
    }
}
