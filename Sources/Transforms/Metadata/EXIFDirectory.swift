import DarkroomRequests
import NIOCore

/// One directory of EXIF data (TIFF 6.0 §2, EXIF 3.0 §4.6.2), read from its bytes, since libraries print some values in
/// words that change between versions. A value outside the bytes, or of another type, is nil.
struct EXIFDirectory {
    private struct Entry {
        let type: UInt16
        let count: UInt32
        /// The index of the entry's four bytes, which are its value or the offset of its value.
        let index: Int
    }

    private let tiff: ByteBuffer
    private let endianness: Endianness
    private let entries: [UInt16: Entry]

    /// The first directory.
    ///
    /// - Parameter exif: the data with or without JPEG's leading `Exif\0\0`.
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
        guard let offset = tiff.getInteger(at: index, endianness: endianness, as: UInt32.self).map(Int.init) else {
            return nil
        }
        self.init(tiff, endianness, at: offset)
    }

    private init?(_ tiff: ByteBuffer, _ endianness: Endianness, at offset: Int) {
        guard let count = tiff.getInteger(at: offset, endianness: endianness, as: UInt16.self) else { return nil }
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

    /// The directory at an entry's offset.
    func directory(_ tag: UInt16) -> EXIFDirectory? {
        guard let entry = entries[tag], entry.type == 4, entry.count == 1 else { return nil }
        return EXIFDirectory(tiff, endianness, offsetAt: entry.index)
    }

    /// The maker's notes of Apple, a directory of their own; nil for another maker's.
    var appleNote: EXIFDirectory? {
        // A version of two bytes precedes the byte order.
        let (name, order, start) = (Array("Apple iOS\0".utf8), Array("MM".utf8), 14)
        guard let entry = entries[0x927C], entry.type == 7,
            let offset = tiff.getInteger(at: entry.index, endianness: endianness, as: UInt32.self).map(Int.init),
            let note = tiff.getSlice(at: offset, length: Int(entry.count)),
            note.readableBytesView.starts(with: name), note.getBytes(at: start - 2, length: 2) == order
        else { return nil }
        return EXIFDirectory(note, .big, at: start)
    }

    /// The data with another size of the image, if it states one (EXIF 3.0 §4.6.6.1).
    static func stating(_ size: PixelSize, in exif: ByteBuffer) -> ByteBuffer {
        guard let camera = EXIFDirectory(exif)?.directory(0x8769) else { return exif }
        let start = exif.writerIndex - camera.tiff.readableBytes
        var changed = exif
        for (tag, side) in [(0xA002, size.width), (0xA003, size.height)] as [(UInt16, Int)] {
            guard let entry = camera.entries[tag], entry.count == 1,
                camera.tiff.getSlice(at: entry.index, length: 4) != nil
            else { continue }
            switch entry.type {
            case 3: changed.setInteger(UInt16(clamping: side), at: start + entry.index, endianness: camera.endianness)
            case 4: changed.setInteger(UInt32(clamping: side), at: start + entry.index, endianness: camera.endianness)
            default: break
            }
        }
        return changed
    }

    /// The ASCII value of an entry of one character.
    func letter(_ tag: UInt16) -> Character? {
        guard let entry = entries[tag], entry.type == 2, (1...2).contains(entry.count) else { return nil }
        return tiff.getInteger(at: entry.index, as: UInt8.self).map { Character(UnicodeScalar($0)) }
    }

    /// The value of an entry of one byte.
    func byte(_ tag: UInt16) -> UInt8? {
        guard let entry = entries[tag], entry.type == 1, entry.count == 1 else { return nil }
        return tiff.getInteger(at: entry.index, as: UInt8.self)
    }

    /// The value of an entry of one signed rational; nil if its denominator is 0.
    func signedFraction(_ tag: UInt16) -> Double? {
        guard let entry = entries[tag], entry.type == 10, entry.count == 1,
            let offset = tiff.getInteger(at: entry.index, endianness: endianness, as: UInt32.self).map(Int.init),
            let numerator = tiff.getInteger(at: offset, endianness: endianness, as: Int32.self),
            let denominator = tiff.getInteger(at: offset + 4, endianness: endianness, as: Int32.self),
            denominator != 0
        else { return nil }
        return Double(numerator) / Double(denominator)
    }

    /// The value of an entry of `count` unsigned rationals; nil if a denominator is 0.
    func fractions(_ tag: UInt16, count: Int) -> [Double]? {
        guard let entry = entries[tag], entry.type == 5, Int(entry.count) == count,
            let offset = tiff.getInteger(at: entry.index, endianness: endianness, as: UInt32.self).map(Int.init)
        else { return nil }
        var fractions: [Double] = []
        for index in (0..<count).map({ offset + $0 * 8 }) {
            guard let numerator = tiff.getInteger(at: index, endianness: endianness, as: UInt32.self),
                let denominator = tiff.getInteger(at: index + 4, endianness: endianness, as: UInt32.self),
                denominator != 0
            else { return nil }
            fractions.append(Double(numerator) / Double(denominator))
        }
        return fractions
    }
}

/// The position where an image was taken, from its EXIF data (EXIF 3.0 §4.6.7).
struct GPSPosition: Encodable, Hashable {
    /// Decimal degrees, north positive, -90…90.
    let latitude: Double
    /// Decimal degrees, east positive, -180…180.
    let longitude: Double
    /// Meters above sea level.
    let altitude: Double?

    /// Nil if the position is missing or impossible. An impossible altitude is left out.
    init?(exif: ByteBuffer) {
        guard let gps = EXIFDirectory(exif)?.directory(0x8825),
            let latitude = Self.degrees(gps, 2, limit: 90, sign: Self.sign(gps.letter(1), "N", "S")),
            let longitude = Self.degrees(gps, 4, limit: 180, sign: Self.sign(gps.letter(3), "E", "W"))
        else { return nil }
        self.latitude = latitude
        self.longitude = longitude
        altitude = Self.altitude(gps)
    }

    private static func sign(_ letter: Character?, _ positive: Character, _ negative: Character) -> Double? {
        letter == positive ? 1 : letter == negative ? -1 : nil
    }

    /// Decimal degrees from degrees, minutes and seconds, with seven decimals (a centimeter).
    private static func degrees(_ gps: EXIFDirectory, _ tag: UInt16, limit: Double, sign: Double?) -> Double? {
        guard let sign, let parts = gps.fractions(tag, count: 3), parts[1] < 60, parts[2] < 60 else { return nil }
        let degrees = parts[0] + parts[1] / 60 + parts[2] / 3600
        return degrees <= limit ? rounded(sign * degrees, 1e7) : nil
    }

    private static func altitude(_ gps: EXIFDirectory) -> Double? {
        // No camera is higher.
        guard let meters = gps.fractions(6, count: 1)?.first, meters <= 1e6 else { return nil }
        switch gps.byte(5) {
        case 0, nil: return rounded(meters, 1e2)
        case 1: return rounded(-meters, 1e2)
        default: return nil
        }
    }

    /// The number rounded to a fraction of 1 / `steps`, never negative zero.
    private static func rounded(_ number: Double, _ steps: Double) -> Double { (number * steps).rounded() / steps + 0 }
}
