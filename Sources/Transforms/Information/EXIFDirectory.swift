import NIOCore

/// One directory of EXIF data (TIFF 6.0 §2, EXIF 3.0 §4.6.2), read from the bytes themselves: libraries put some values into words that
/// change with their version. Whatever does not lie within the bytes, or is of another type, is nil.
struct EXIFDirectory {
    private struct Entry {
        let type: UInt16
        let count: UInt32
        /// Where its four bytes for a value, or for the place of one, begin.
        let index: Int
    }

    private let tiff: ByteBuffer
    private let endianness: Endianness
    private let entries: [UInt16: Entry]

    /// The first directory.
    ///
    /// - Parameter exif: with or without the six bytes that JPEG has in front.
    init?(_ exif: ByteBuffer) {
        let head = [UInt8]("Exif\0\0".utf8)
        let start = exif.readableBytesView.starts(with: head) ? head.count : 0
        guard let tiff = exif.getSlice(at: exif.readerIndex + start, length: exif.readableBytes - start),
            let order = tiff.getBytes(at: 0, length: 2)
        else { return nil }
        switch order {
        case [UInt8]("II".utf8): self.init(tiff, .little, offsetAt: 4)
        case [UInt8]("MM".utf8): self.init(tiff, .big, offsetAt: 4)
        default: return nil
        }
    }

    private init?(_ tiff: ByteBuffer, _ endianness: Endianness, offsetAt index: Int) {
        guard let offset = tiff.getInteger(at: index, endianness: endianness, as: UInt32.self).map(Int.init),
            let count = tiff.getInteger(at: offset, endianness: endianness, as: UInt16.self)
        else { return nil }
        var entries: [UInt16: Entry] = [:]
        for index in (0..<Int(count)).map({ offset + 2 + $0 * 12 }) {
            guard let tag = tiff.getInteger(at: index, endianness: endianness, as: UInt16.self),
                let type = tiff.getInteger(at: index + 2, endianness: endianness, as: UInt16.self),
                let count = tiff.getInteger(at: index + 4, endianness: endianness, as: UInt32.self)
            else { break }
            if entries[tag] == nil { entries[tag] = Entry(type: type, count: count, index: index + 8) }
        }
        self.tiff = tiff
        self.endianness = endianness
        self.entries = entries
    }

    /// The directory that an entry points to.
    func directory(_ tag: UInt16) -> EXIFDirectory? {
        guard let entry = entries[tag], entry.type == 4, entry.count == 1 else { return nil }
        return EXIFDirectory(tiff, endianness, offsetAt: entry.index)
    }

    /// A text of one letter.
    func letter(_ tag: UInt16) -> Character? {
        guard let entry = entries[tag], entry.type == 2, (1...2).contains(entry.count) else { return nil }
        return tiff.getInteger(at: entry.index, as: UInt8.self).map { Character(UnicodeScalar($0)) }
    }

    /// One byte.
    func byte(_ tag: UInt16) -> UInt8? {
        guard let entry = entries[tag], entry.type == 1, entry.count == 1 else { return nil }
        return tiff.getInteger(at: entry.index, as: UInt8.self)
    }

    /// So many fractions without a sign; nil where one of them has nothing below the line.
    func fractions(_ tag: UInt16, count: Int) -> [Double]? {
        guard let entry = entries[tag], entry.type == 5, Int(entry.count) == count,
            let offset = tiff.getInteger(at: entry.index, endianness: endianness, as: UInt32.self).map(Int.init)
        else { return nil }
        var fractions: [Double] = []
        for index in (0..<count).map({ offset + $0 * 8 }) {
            guard let above = tiff.getInteger(at: index, endianness: endianness, as: UInt32.self),
                let below = tiff.getInteger(at: index + 4, endianness: endianness, as: UInt32.self), below != 0
            else { return nil }
            fractions.append(Double(above) / Double(below))
        }
        return fractions
    }
}
