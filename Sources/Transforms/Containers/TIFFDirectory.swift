import NIOCore

/// A directory of a TIFF (TIFF 6.0 §2; BigTIFF has counts and offsets of 64 bits).
struct TIFFDirectory {
    /// The number of samples in front of ``extra`` samples, by the photometric interpretation.
    private(set) var samples = 1
    private(set) var photometric = 0
    /// The meaning of each sample behind the colors: 1 and 2 are alpha (§18).
    private(set) var extra: [Int] = []
    /// Whether there is a C2PA manifest.
    private(set) var hasManifest = false

    /// Whether the first directory begins within the bytes. A truncated file has usually lost it.
    static func isPresent(in source: ByteBuffer) -> Bool {
        TIFFReader(source)?.firstOffset.map { $0 < source.readableBytes } ?? false
    }

    /// - Parameter page: the number of the directory, counted from 0.
    init?(of source: ByteBuffer, page: Int) {
        guard let reader = TIFFReader(source), var offset = reader.firstOffset, page < Self.maxPages else { return nil }
        for _ in 0..<max(page, 0) {
            guard let next = reader.next(after: offset) else { return nil }
            offset = next
        }
        for field in reader.fields(at: offset) {
            switch field.tag {
            case 262: photometric = reader.values(of: field, atMost: 1).first ?? 0
            case 277: samples = reader.values(of: field, atMost: 1).first ?? 1
            case 52_545: hasManifest = true
            case 338: extra = reader.values(of: field, atMost: Self.maxExtra)
            default: break
            }
        }
    }

    /// The samples of a pixel that are neither color nor alpha, all at the end.
    ///
    /// Nil if the file does not say which samples are colors, as for bands of other sensors.
    var surplus: Int? {
        let colors: Int
        switch photometric {
        case 0, 1: colors = 1
        case 2, 6, 8, 9, 10: colors = 3
        case 5: colors = 4
        default: return nil
        }
        // Gray with many further samples may be any image.
        guard samples > colors, colors > 1 || samples == 2 else { return nil }
        let isAlpha = extra.first.map { $0 == 1 || $0 == 2 } ?? false
        return samples - colors - (isAlpha ? 1 : 0)
    }

    /// Walking to a later page reads all before it.
    private static let maxPages = 65_536
    private static let maxExtra = 64
}

/// Reads integers and fields in the byte order of a TIFF.
private struct TIFFReader {
    struct Field {
        let tag: Int
        let type: UInt16
        let count: Int
        /// The position of the values, or of their offset.
        let position: Int
    }

    private let source: ByteBuffer
    private let endianness: Endianness
    private let isBig: Bool

    init?(_ source: ByteBuffer) {
        self.source = source
        let order = source.getInteger(at: source.readerIndex, as: UInt8.self)
        endianness = order == UInt8(ascii: "M") ? .big : .little
        guard
            let version = source.getInteger(at: source.readerIndex + 2, endianness: endianness, as: UInt16.self)
        else { return nil }
        isBig = version == 43
    }

    /// The position of the first directory.
    var firstOffset: Int? { isBig ? integer(8, UInt64.self) : integer(4, UInt32.self) }

    /// The position of the directory after the one at `offset`; nil if that is the last.
    func next(after offset: Int) -> Int? {
        guard let count = count(at: offset) else { return nil }
        let end = offset + (isBig ? 8 : 2) + count * fieldLength
        guard let next = isBig ? integer(end, UInt64.self) : integer(end, UInt32.self), next > 0 else { return nil }
        return next
    }

    func fields(at offset: Int) -> [Field] {
        guard let count = count(at: offset) else { return [] }
        return (0..<count).compactMap { index in
            let start = offset + (isBig ? 8 : 2) + index * fieldLength
            guard let tag = integer(start, UInt16.self), let type = integer(start + 2, UInt16.self),
                let count = isBig ? integer(start + 4, UInt64.self) : integer(start + 4, UInt32.self)
            else { return nil }
            return Field(tag: tag, type: UInt16(type), count: count, position: start + (isBig ? 12 : 8))
        }
    }

    /// The values of a field of type `SHORT`; empty for other types.
    func values(of field: Field, atMost limit: Int) -> [Int] {
        guard field.type == 3 else { return [] }
        let fits = field.count <= (isBig ? 4 : 2)
        let offset = isBig ? integer(field.position, UInt64.self) : integer(field.position, UInt32.self)
        guard let start = fits ? field.position : offset else { return [] }
        return (0..<min(field.count, limit)).compactMap { integer(start + 2 * $0, UInt16.self) }
    }

    private static let maxFields = 65_535
    private static let maxPosition = 1 << 48
    private var fieldLength: Int { isBig ? 20 : 12 }

    /// The number of fields, if all of them are within the file.
    private func count(at offset: Int) -> Int? {
        guard let count = isBig ? integer(offset, UInt64.self) : integer(offset, UInt16.self),
            count <= min((source.readableBytes - offset) / fieldLength, Self.maxFields)
        else { return nil }
        return count
    }

    /// Nil for a position outside of the file, and for a number that is larger than any position.
    private func integer<Number: FixedWidthInteger & UnsignedInteger>(_ position: Int, _ type: Number.Type) -> Int? {
        guard position >= 0, position <= source.readableBytes - MemoryLayout<Number>.size else { return nil }
        return source.getInteger(at: source.readerIndex + position, endianness: endianness, as: type)
            .flatMap { Int(exactly: $0) }.flatMap { $0 <= Self.maxPosition ? $0 : nil }
    }
}
