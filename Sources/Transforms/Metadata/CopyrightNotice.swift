import DarkroomVips

/// The only metadata that a variant keeps: copyright and artist. Everything else, the position included, is stripped.
struct CopyrightNotice: Equatable {
    /// EXIF `Copyright`, IPTC 2:116 or XMP `dc:rights`, the first that is there; at most 1000 Unicode scalars.
    var copyright: String?
    /// EXIF `Artist`; at most 1000 Unicode scalars.
    var artist: String?

    var isEmpty: Bool { copyright == nil && artist == nil }

    init(of image: VipsImage) {
        let metadata = EmbeddedMetadata(of: image, maxLength: Self.maxLength)
        artist = metadata.exif(Self.artistField)
        copyright = metadata.copyright
    }

    /// The same pixels with this notice as their only metadata.
    func onlyMetadata(of image: VipsImage) throws(VipsError) -> VipsImage {
        var texts: [String: String] = [:]
        texts[Self.copyrightField] = copyright.map(Self.exifText)
        texts[Self.artistField] = artist.map(Self.exifText)
        // libvips writes PNG without EXIF, but with textual chunks (PNG 3rd edition, §11.3.3).
        texts["png-comment-0-Copyright"] = copyright
        texts["png-comment-1-Author"] = artist
        return try image.setting(removing: image.fields, texts: texts)
    }

    private static let copyrightField = "exif-ifd0-Copyright"
    private static let artistField = "exif-ifd0-Artist"
    private static let maxLength = 1000

    /// When libvips encodes such a text, it drops the last parenthesis, whatever is in it, and turns the rest to ASCII.
    private static func exifText(_ text: String) -> String { "\(text) (ASCII)" }
}
