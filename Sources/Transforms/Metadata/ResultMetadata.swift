import DarkroomRequests
import DarkroomVips
import NIOCore

/// The metadata of a result in a format.
///
/// EXIF, XMP and IPTC of a source are never copied as they are: they also describe a position, thumbnails, earlier
/// forms and parts of the file that the result does not have. The same holds for a C2PA manifest, whose signature
/// covers the bytes of the source.
struct ResultMetadata {
    private let rights: ImageRights
    private let description: String?
    private let keepsEXIF: Bool
    private let format: OutputFormat
    /// The ICC profile of the samples; nil = they are sRGB.
    private let profile: ByteBuffer?
    private let gainMap: EncodedGainMap?

    /// - Parameter frames: the chain's result, with the fields of its source.
    init(of frames: ImageFrames, _ policy: MetadataPolicy, in format: OutputFormat) {
        let image = frames.first
        profile = frames.isP3 ? ICCProfile.displayP3 : nil
        gainMap = format == .jpeg ? frames.gainMap : nil
        rights = policy == .none ? ImageRights() : ImageRights(of: image)
        description =
            policy == .all ? EmbeddedMetadata(of: image, maxLength: ImageRights.maxLength).description : nil
        keepsEXIF = policy == .all && format.row.holdsEXIF && image.has("exif-data")
        self.format = format
    }

    /// Whether savers write anything: EXIF, a PNG's texts, XMP, or a profile.
    var isWrittenBySaver: Bool { hasEXIF || packet != nil && !addsPacket || savedProfile != nil }

    /// Whether the samples are sRGB.
    var isSRGB: Bool { profile == nil }

    private var savedProfile: ByteBuffer? { format.row.addingProfile == nil ? profile : nil }

    /// Whether there is EXIF, or texts in a PNG.
    var hasEXIF: Bool { keepsEXIF || rights.creator != nil || rights.copyright != nil }

    /// The XMP packet, unless EXIF says the same; nil = none.
    var packet: ByteBuffer? { Self.packet(of: textsBesideEXIF) }

    private var textsBesideEXIF: [XMPProperty: String] {
        format.row.holdsEXIF && rights.fitsEXIF && description == nil ? [:] : texts
    }

    private var texts: [XMPProperty: String] {
        var texts = rights.properties
        texts[.description] = description
        return texts
    }

    private static func packet(of texts: [XMPProperty: String]) -> ByteBuffer? {
        texts.isEmpty ? nil : XMPPacket.make(texts)
    }

    /// The same pixels with only the fields from which savers write this metadata.
    func onlyMetadata(of image: VipsImage) throws(VipsError) -> VipsImage {
        var texts: [String: String] = [:]
        texts["exif-ifd0-Copyright"] = rights.copyright.map(Self.exifText)
        texts["exif-ifd0-Artist"] = rights.creator.map(Self.exifText)
        // libvips writes PNG without EXIF, but with textual chunks (PNG 3rd edition, §11.3.3).
        texts["png-comment-0-Copyright"] = rights.copyright
        texts["png-comment-1-Author"] = rights.creator
        var blobs: [String: ByteBuffer] = [:]
        if !addsPacket { blobs["xmp-data"] = packet }
        blobs["icc-profile-data"] = savedProfile
        let removed = image.fields.filter { !keepsEXIF || !Self.isGeneralEXIF($0) }
        return try image.setting(removing: removed, texts: texts, blobs: blobs)
    }

    /// A file of the format with profile, packet and gain map, as far as savers do not write them.
    func adding(to file: ByteBuffer) -> ByteBuffer { adding(textsBesideEXIF, to: file) }

    private func adding(_ texts: [XMPProperty: String], to file: ByteBuffer) -> ByteBuffer {
        let file = profile.flatMap { format.row.addingProfile?($0, file) } ?? file
        if let whole = gainMap?.adding(to: file, texts) { return whole }
        return Self.packet(of: texts).flatMap { format.row.addingXMP?($0, file) } ?? file
    }

    /// A file without any metadata, with the packet; nil if that takes a saver.
    func adding(toBare file: ByteBuffer) -> ByteBuffer? {
        guard !keepsEXIF else { return nil }
        return adding(texts, to: file)
    }

    /// The EXIF data in an image's fields as libvips writes it into a file; nil if there is none.
    func exif(of image: VipsImage) throws(VipsError) -> ByteBuffer? {
        guard hasEXIF else { return nil }
        let pixel = try image.extracting(x: 0, y: 0, size: PixelSize(width: 1, height: 1))
        let written = try VipsLoader.jpeg.withImage(of: VipsSaver.jpeg.encode(pixel)) { file throws(VipsError) in
            file.blob("exif-data")
        }
        return written.map { EXIFDirectory.stating(image.size, in: $0) }
    }

    private var addsPacket: Bool { format.row.addingXMP != nil }

    /// Whether the field is of the image as a whole (directory 0) or of how it was taken (directory 2), and remains
    /// true for a result in sRGB that is upright. Directories 1, 3 and 4 are thumbnail, position and color spaces.
    private static func isGeneralEXIF(_ field: String) -> Bool {
        if field == "exif-data" { return true }
        guard field.hasPrefix("exif-ifd0-") || field.hasPrefix("exif-ifd2-") else { return false }
        return !excluded.contains { field.hasSuffix($0) }
    }

    /// Notes refer to their place in the file; the others hold what is not copied elsewhere either.
    private static let excluded = [
        "-Orientation", "-ColorSpace", "-MakerNote", "-InterColorProfile", "-XMLPacket", "-IPTC/NAA", "-ImageResources",
    ]

    /// When libvips encodes such a text, it drops the last parenthesis, whatever is in it, and converts the remaining
    /// text to ASCII.
    private static func exifText(_ text: String) -> String { "\(text) (ASCII)" }
}
