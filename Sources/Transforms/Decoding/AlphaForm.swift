import DarkroomVips
import NIOCore

/// What a file says about the bands behind its colors, and about the range of gray, and libvips does not take into
/// account.
struct AlphaForm: Hashable {
    /// Whether colors are multiplied by alpha.
    private(set) var isPremultiplied = false
    /// Whether alpha has the range of video: 16 to 235 of 255.
    private(set) var isLimited = false
    /// Whether the image is gray and has the range of video. libheif converts only the range of colors.
    private(set) var isGrayLimited = false
    /// The bands at the end that are not alpha.
    private(set) var surplus = 0

    /// - Parameter page: the page of a TIFF, counted from 0.
    init(of source: ByteBuffer, _ format: SourceFormat, page: Int = 0) {
        switch format {
        case .avif, .heic:
            guard let container = HEIFContainer(of: source) else { return }
            isGrayLimited = container.isGray && container.isFullRange == false
            guard let alpha = container.alpha(of: container.primary) else { return }
            isPremultiplied = container.isPremultiplied
            isLimited = container.codedColor(of: container.coded(alpha))?.isFullRange == false
        case .jxl: isPremultiplied = JPEGXLHeader.isPremultiplied(source)
        case .tiff: surplus = TIFFDirectory(of: source, page: page)?.surplus ?? 0
        default: break
        }
    }

    /// The image with colors as they are seen, and an alpha of full range if it has one.
    func straightened(_ image: VipsImage) throws(VipsError) -> VipsImage {
        var image = image
        if surplus > 0, image.bands > surplus { image = try image.band(0, count: image.bands - surplus) }
        if isGrayLimited {
            image = try image.splittingAlpha { colors throws(VipsError) in try colors.inFullRange() }
        }
        guard image.hasAlpha else { return image }
        if isLimited { image = try image.splittingAlpha(alpha: { alpha throws(VipsError) in try alpha.inFullRange() }) }
        return isPremultiplied ? try image.dividedByAlpha() : image
    }
}

extension VipsImage {
    /// Samples of video's range, in the same format.
    fileprivate func inFullRange() throws(VipsError) -> VipsImage {
        let factor = isShort ? 65535.0 / Double(219 << 8) : 255.0 / 219
        let offset = isShort ? Double(16 << 8) : 16
        return try applying("linear", ["a": .doubles([factor]), "b": .doubles([0.5 - offset * factor])])
            .applying("cast", ["format": .string(sampleFormat)])
    }
}
