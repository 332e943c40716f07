import Foundation
import NIOCore
import Vips

/// The only metadata that survives: who owns the picture. Everything else, location included, is dropped.
struct CopyrightNotice: Equatable {
    /// EXIF `Copyright`, IPTC 2:116 or XMP `dc:rights`, whichever is there first.
    var copyright: String?
    /// EXIF `Artist`.
    var artist: String?

    var isEmpty: Bool { copyright == nil && artist == nil }

    init(of image: VipsImage) {
        artist = Self.exif(image, Self.artistField)
        copyright =
            Self.exif(image, Self.copyrightField) ?? image.blob("iptc-data").flatMap(Self.iptc)
            ?? image.blob("xmp-data").flatMap(Self.xmp)
    }

    /// The same pixels with nothing but this notice.
    func onlyMetadata(of image: VipsImage) throws(VipsError) -> VipsImage {
        var texts: [String: String] = [:]
        texts[Self.copyrightField] = copyright.map(Self.exifText)
        texts[Self.artistField] = artist.map(Self.exifText)
        // PNG is written without EXIF, but with texts under names (PNG 3rd edition, §11.3.3).
        texts["png-comment-0-Copyright"] = copyright
        texts["png-comment-1-Author"] = artist
        return try image.setting(removing: image.fields, texts: texts)
    }

    private static let copyrightField = "exif-ifd0-Copyright"
    private static let artistField = "exif-ifd0-Artist"
    private static let maxLength = 1000

    /// libvips prints EXIF text as `text (text, ASCII, 12 components, 12 bytes)`.
    private static func exif(_ image: VipsImage, _ field: String) -> String? {
        guard let printed = image.text(field) else { return nil }
        if let exact = counted(printed) { return clean(exact) }
        let end = printed.range(of: " (")?.lowerBound ?? printed.endIndex
        return clean(String(printed[..<end]))
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

    /// On its way out libvips drops the last bracket of such a text, whatever is in it, and turns the rest to ASCII.
    private static func exifText(_ text: String) -> String { "\(text) (ASCII)" }

    /// Looks for data set 2:116 in IPTC-IIM records: 0x1C, record, data set, two bytes of length, data.
    private static func iptc(_ data: ByteBuffer) -> String? {
        let bytes = Array(data.readableBytesView)
        for index in bytes.indices.dropLast(5) where bytes[index] == 0x1C {
            guard bytes[index + 1] == 2, bytes[index + 2] == 116 else { continue }
            let length = Int(bytes[index + 3]) << 8 | Int(bytes[index + 4])
            guard index + 5 + length <= bytes.count else { return nil }
            return clean(String(decoding: bytes[(index + 5)..<(index + 5 + length)], as: UTF8.self))
        }
        return nil
    }

    /// The first text inside `dc:rights`.
    private static func xmp(_ data: ByteBuffer) -> String? {
        let text = String(decoding: data.readableBytesView.prefix(262_144), as: UTF8.self)
        guard let open = text.range(of: "<dc:rights"), let close = text.range(of: "</dc:rights>"),
            open.upperBound < close.lowerBound
        else { return nil }
        let inside = text[open.upperBound..<close.lowerBound]
        let words = inside.split(separator: "<").compactMap { $0.split(separator: ">").dropFirst().first }
        return words.lazy.compactMap { clean(String($0)) }.first
    }

    /// Printable text of a sane length, or nothing.
    private static func clean(_ text: String) -> String? {
        let printable = text.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }
        let trimmed = String(String.UnicodeScalarView(printable)).trimmingCharacters(in: .whitespaces)
        return trimmed.isEmpty ? nil : String(trimmed.prefix(maxLength))
    }
}
