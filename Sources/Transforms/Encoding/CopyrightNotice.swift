import DarkroomVips

/// The only metadata that survives: who owns the picture. Everything else, location included, is dropped.
struct CopyrightNotice: Equatable {
    /// EXIF `Copyright`, IPTC 2:116 or XMP `dc:rights`, whichever is there first.
    var copyright: String?
    /// EXIF `Artist`.
    var artist: String?

    var isEmpty: Bool { copyright == nil && artist == nil }

    init(of image: VipsImage) {
        let texts = EmbeddedTexts(image: image, maxLength: Self.maxLength)
        artist = texts.exif(Self.artistField)
        copyright = texts.exif(Self.copyrightField) ?? texts.iptc(116) ?? texts.xmp("dc:rights")
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

    /// On its way out libvips drops the last bracket of such a text, whatever is in it, and turns the rest to ASCII.
    private static func exifText(_ text: String) -> String { "\(text) (ASCII)" }
}
