import NIOCore

/// The application record of IPTC metadata (IPTC-NAA Information Interchange Model 4.2, record 2).
///
/// JPEG and TIFF files carry the data sets inside Photoshop's image resource 0x0404 (Adobe Photoshop File Formats
/// Specification, "Image Resource Blocks"); some TIFF files carry them bare. Both are walked block by block: a marker
/// byte that happens to occur within a value, a thumbnail or another resource is never taken for a data set.
struct IPTCDataSets {
    /// The first value of each data set of record 2, by its number: 80 = by-line, 110 = credit, 116 = copyright
    /// notice, 120 = caption.
    private let values: [UInt8: ByteBuffer]

    /// Reads as far as the blocks are well-formed; a block that claims more bytes than the field has ends the reading.
    ///
    /// - Parameter field: libvips' `iptc-data`: a JPEG's APP13 segment, image resource blocks, or bare data sets.
    init(_ field: ByteBuffer) {
        var rest = Self.dataSets(field)
        var values: [UInt8: ByteBuffer] = [:]
        while rest.readInteger(as: UInt8.self) == Self.marker, let record = rest.readInteger(as: UInt8.self),
            let number = rest.readInteger(as: UInt8.self), let length = Self.readLength(&rest),
            let value = rest.readSlice(length: length)
        {
            if record == Self.applicationRecord, values[number] == nil { values[number] = value }
        }
        self.values = values
    }

    /// The first value of a data set, as UTF-8 where it is valid UTF-8 and as ISO 8859-1 otherwise. A value longer than
    /// 64 KiB is cut.
    subscript(number: UInt8) -> String? {
        guard let value = values[number]?.readableBytesView else { return nil }
        var bytes = value.prefix(Self.maxValueBytes)
        // Whole characters only: half of one would turn the text into ISO 8859-1.
        if bytes.count < value.count, let last = bytes.lastIndex(where: { $0 & 0xC0 != 0x80 }) {
            bytes = bytes[..<last]
        }
        return String(validating: bytes, as: UTF8.self)
            ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
    }

    private static let maxValueBytes = 65_536
    private static let photoshopSignature = Array("Photoshop 3.0\0".utf8)
    private static let blockSignature = Array("8BIM".utf8)
    private static let iptcResource: UInt16 = 0x0404
    private static let marker: UInt8 = 0x1C
    private static let applicationRecord: UInt8 = 2

    /// The data sets' bytes, taken out of the resource block that holds them; empty if there is none.
    private static func dataSets(_ field: ByteBuffer) -> ByteBuffer {
        var rest = field
        if rest.readableBytesView.first == marker { return rest }
        if rest.readableBytesView.starts(with: photoshopSignature) {
            rest.moveReaderIndex(forwardBy: photoshopSignature.count)
        }
        // A block has a signature, an identifier, a Pascal string and the data, the last two padded to an even length.
        while rest.readBytes(length: blockSignature.count) == blockSignature,
            let id = rest.readInteger(as: UInt16.self), let nameLength = rest.readInteger(as: UInt8.self),
            rest.readSlice(length: Int(nameLength | 1)) != nil, let length = rest.readInteger(as: UInt32.self),
            let data = rest.readSlice(length: Int(length))
        {
            if id == iptcResource { return data }
            // The padding of the last block is often missing.
            if length % 2 == 1 { _ = rest.readSlice(length: 1) }
        }
        return ByteBuffer()
    }

    /// Two bytes, or for an extended data set (IIM §1.6.4) the number of length bytes, at most four, followed by the
    /// length bytes.
    private static func readLength(_ rest: inout ByteBuffer) -> Int? {
        guard let short = rest.readInteger(as: UInt16.self) else { return nil }
        guard short & 0x8000 != 0 else { return Int(short) }
        let count = Int(short & 0x7FFF)
        guard (1...4).contains(count), let bytes = rest.readBytes(length: count) else { return nil }
        return bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}
