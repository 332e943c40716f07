import DarkroomRequests
import DarkroomVips

/// The JSON document of weserv/images about the chain's result, with the members that it has.
struct WsrvDocument: Encodable {
    let format: String
    let width: Int
    /// Of all frames, which lie below each other.
    let height: Int
    let space: String
    let channels: Int
    let depth: String
    /// Pixels per inch.
    let density: Int?
    let chromaSubsampling: String?
    let isProgressive: Bool
    let paletteBitDepth: Int?
    /// The number of pages of the source. The following four members also describe the source.
    let pages: Int?
    let pageHeight: Int?
    let loop: Int?
    let delay: [Int]?
    let pagePrimary: Int?
    let hasProfile: Bool
    let hasAlpha: Bool
    /// 0 = none. An image after applying its orientation has 0 too.
    let orientation: Int

    init(_ header: SourceHeader, _ source: VipsImage, _ result: ImageFrames) {
        format = header.format == .avif || header.format == .heic ? "heif" : header.format.rawValue
        width = result.size.width
        height = result.size.height * result.frames.count
        (space, channels, hasAlpha) = (result.first.interpretation, result.first.bands, result.first.hasAlpha)
        depth = "uchar"
        density = source.density.x > 1 && source.density.x < 1e6 ? Int((source.density.x * 25.4).rounded()) : nil
        chromaSubsampling = source.text("jpeg-chroma-subsample")
        isProgressive = source.has("interlaced")
        paletteBitDepth = source.int("palette-bit-depth")
        pages = source.int("n-pages")
        pageHeight = result.isAnimated ? result.size.height : nil
        loop = source.int("loop")
        delay = source.ints("delay")
        pagePrimary = source.int("heif-primary")
        hasProfile = source.has("icc-profile-data")
        orientation = source.int("orientation") == 1 ? 1 : 0
    }
}
