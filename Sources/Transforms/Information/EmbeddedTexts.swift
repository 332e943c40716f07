import DarkroomVips
import Foundation
import NIOCore

/// What people and cameras wrote into a picture. Whatever comes out is printable and of a sane length; nil for all else.
struct EmbeddedTexts {
    let image: VipsImage
    /// The longest text that comes out, in Unicode scalars.
    let maxLength: Int

    /// A text of EXIF, by libvips' name of the field, which prints it as `text (text, ASCII, 12 components, 12 bytes)`.
    func exif(_ field: String) -> String? {
        guard let printed = image.text(field) else { return nil }
        if let exact = Self.counted(printed) { return clean(exact) }
        let end = printed.range(of: " (")?.lowerBound ?? printed.endIndex
        return clean(String(printed[..<end]))
    }

    /// A whole number or a fraction of EXIF, which libvips prints as `28/10 (f/2.8, Rational, 1 components, 8 bytes)`.
    func exifNumber(_ field: String) -> Double? {
        guard let text = exif(field) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Double($0) }
        guard let number = parts.first ?? nil, parts.count <= 2 else { return nil }
        guard parts.count == 2 else { return number.isFinite ? number : nil }
        guard let divisor = parts[1] else { return nil }
        let quotient = number / divisor
        return quotient.isFinite ? quotient : nil
    }

    /// A data set of IPTC's application record (IPTC-IIM §6): 0x1C, record 2, data set, two bytes of length, data.
    func iptc(_ dataSet: UInt8) -> String? {
        guard let data = image.blob("iptc-data") else { return nil }
        let bytes = Array(data.readableBytesView)
        for index in bytes.indices.dropLast(5) where bytes[index] == 0x1C {
            guard bytes[index + 1] == 2, bytes[index + 2] == dataSet else { continue }
            let length = Int(bytes[index + 3]) << 8 | Int(bytes[index + 4])
            guard index + 5 + length <= bytes.count else { return nil }
            return clean(String(decoding: bytes[(index + 5)..<(index + 5 + length)], as: UTF8.self))
        }
        return nil
    }

    /// The first text inside an XMP element such as `dc:rights`.
    func xmp(_ element: String) -> String? {
        guard let data = image.blob("xmp-data") else { return nil }
        let text = String(decoding: data.readableBytesView.prefix(262_144), as: UTF8.self)
        guard let open = text.range(of: "<\(element)"), let close = text.range(of: "</\(element)>"),
            open.upperBound < close.lowerBound
        else { return nil }
        let inside = text[open.upperBound..<close.lowerBound]
        let words = inside.split(separator: "<").compactMap { $0.split(separator: ">").dropFirst().first }
        return words.lazy.compactMap { clean(String($0)) }.first
    }

    /// The text may hold brackets itself; the number of its bytes tells where it ends.
    private static func counted(_ printed: String) -> String? {
        guard let mark = printed.range(of: ", ASCII, ", options: .backwards),
            let count = Int(printed[mark.upperBound...].prefix { $0.isNumber }), count > 1
        else { return nil }
        let bytes = printed.utf8
        guard bytes.dropFirst(count - 1).starts(with: " (".utf8) else { return nil }
        return String(Substring(bytes.prefix(count - 1)))
    }

    /// Without control characters, and without those that turn the direction or the line of what stands around a text.
    func clean(_ text: String) -> String? {
        let printable = text.unicodeScalars.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: !scalar.properties.isBidiControl
            }
        }
        let trimmed = String(String.UnicodeScalarView(printable)).trimmingCharacters(in: .whitespaces)
        // Counted in scalars: a single character may be made of any number of them.
        let clipped = trimmed.unicodeScalars.prefix(maxLength)
        return clipped.isEmpty ? nil : String(String.UnicodeScalarView(clipped))
    }
}
