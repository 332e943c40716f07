import DarkroomVips
import Foundation
import NIOCore

/// Texts and numbers that cameras and people wrote into a file, from EXIF, IPTC and XMP.
///
/// Every text is printable, on a single line and clipped; an empty text is nil.
struct EmbeddedMetadata {
    /// The owner of the image: EXIF `Copyright`, IPTC 2:116 or XMP `dc:rights`, the first that is there.
    var copyright: String? { text("exif-ifd0-Copyright", 116, .rights) }
    /// The author: EXIF `Artist`, IPTC 2:80 or XMP `dc:creator`, the first that is there.
    var artist: String? { text("exif-ifd0-Artist", 80, .creator) }
    /// The line that names who provides the image: IPTC 2:110 or XMP `photoshop:Credit`, the first that is there.
    var credit: String? { iptc(110) ?? xmp(.credit) }
    /// EXIF `ImageDescription`, IPTC 2:120 or XMP `dc:description`, the first that is there.
    var description: String? { text("exif-ifd0-ImageDescription", 120, .description) }

    private let image: VipsImage
    /// In Unicode scalars.
    private let maxLength: Int
    private let dataSets: IPTCDataSets?
    private let packet: XMPPacket?

    /// - Parameters:
    ///   - image: a loaded image with its fields.
    ///   - maxLength: the longest text that comes out, in Unicode scalars.
    init(of image: VipsImage, maxLength: Int) {
        self.image = image
        self.maxLength = maxLength
        dataSets = image.blob("iptc-data").map(IPTCDataSets.init)
        packet = image.blob("xmp-data").map { XMPPacket($0.readableBytesView) }
    }

    /// An EXIF text by libvips' name of the field, such as `exif-ifd0-Make`.
    ///
    /// libvips prints the value as `text (text, ASCII, 12 components, 12 bytes)`.
    func exif(_ field: String) -> String? {
        guard let printed = image.text(field) else { return nil }
        if let exact = Self.counted(printed) { return clean(exact) }
        let end = printed.range(of: " (")?.lowerBound ?? printed.endIndex
        return clean(String(printed[..<end]))
    }

    /// An EXIF integer or fraction, which libvips prints as `28/10 (f/2.8, Rational, 1 components, 8 bytes)`.
    func exifNumber(_ field: String) -> Double? {
        guard let text = exif(field) else { return nil }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Double($0) }
        guard parts.count <= 2, let number = parts[0], let divisor = parts.count == 2 ? parts[1] : 1 else { return nil }
        let quotient = number / divisor
        return quotient.isFinite ? quotient : nil
    }

    /// The text without noncharacters, which XML excludes, and control, line-breaking and bidirectional formatting
    /// characters, trimmed and clipped.
    func clean(_ text: String) -> String? {
        // Not all of a text of many megabytes is looked at.
        let head = text.unicodeScalars.prefix(Self.cleanedPerKept * maxLength)
        let printable = head.filter { scalar in
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: false
            default: !scalar.properties.isBidiControl && !scalar.properties.isNoncharacterCodePoint
            }
        }
        let trimmed = String(String.UnicodeScalarView(printable)).trimmingCharacters(in: .whitespaces)
        // Counted in scalars: a single character may consist of any number of them.
        let clipped = trimmed.unicodeScalars.prefix(maxLength)
        return clipped.isEmpty ? nil : String(String.UnicodeScalarView(clipped))
    }

    /// Scalars that are cleaned for each that may be kept.
    private static let cleanedPerKept = 64

    /// The first text that is there. Where EXIF has only ASCII and XMP has more, EXIF is likely the same without
    /// accents, as libvips writes it.
    private func text(_ field: String, _ dataSet: UInt8, _ property: XMPProperty) -> String? {
        let (own, other) = (exif(field), xmp(property))
        if let own, let other, own.allSatisfy(\.isASCII), !other.allSatisfy(\.isASCII) { return other }
        return own ?? iptc(dataSet) ?? other
    }

    /// A text that is in XMP only.
    func xmp(_ property: XMPProperty) -> String? { packet?[property].flatMap(clean) }

    private func iptc(_ dataSet: UInt8) -> String? { dataSets?[dataSet].flatMap(clean) }

    /// The value by its byte count, since it may itself contain parentheses.
    private static func counted(_ printed: String) -> String? {
        guard let mark = printed.range(of: ", ASCII, ", options: .backwards),
            let count = Int(printed[mark.upperBound...].prefix { $0.isNumber }), count > 1
        else { return nil }
        let bytes = printed.utf8
        // The final NUL of a text counts, if it has one: libvips 8.15 and later write none.
        let ends = [count - 1, count]
        return ends.first { bytes.dropFirst($0).starts(with: " (".utf8) }.map { String(Substring(bytes.prefix($0))) }
    }
}
