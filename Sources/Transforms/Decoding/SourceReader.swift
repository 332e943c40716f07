import DarkroomRequests
import DarkroomVips
import NIOCore

/// The decoder of a source, with the bytes that it reads: one of libvips' loaders, ``BitmapDecoder``, or
/// ``PNGAnimationDecoder``.
///
/// An image with a profile of more than ``maxProfileBytes`` is read as an image without one, and a PNG with long
/// compressed texts as one without them. A file that lacks none of its pixels is read, whatever else is wrong with it:
/// its container is rewritten.
struct SourceReader: Sendable {
    /// The longest profile that is used, in bytes. Profiles of presses have up to 3 MB.
    static let maxProfileBytes = 4 << 20

    /// The bytes of an SVG are inflated, and have lengths that libvips understands. The bytes of an icon with a PNG
    /// begin with the PNG. A GIF may have additional frames.
    let bytes: ByteBuffer
    private let codec: Codec
    private let format: SourceFormat
    /// Whether the source is a JPEG without an end, whose last scan may be incomplete.
    private let lacksEnd: Bool
    /// The color space that the bytes state without an ICC profile, and whether it takes precedence over a profile.
    private var color: (code: ColorCode, isFirst: Bool)?
    /// The XMP packet of a format of which libvips 8.14 reports none.
    private var xmp: ByteBuffer?
    private let gif: GIFPages?
    private var animation: PNGAnimationDecoder?
    private var document: SVGDocument?

    private enum Codec {
        /// The image of an icon gets an alpha channel, and an animation that clears pixels.
        case loader(VipsLoader, addsAlpha: Bool)
        case bitmap(BitmapDecoder)
    }

    /// - Parameter entry: the index of an icon's image; nil = the largest.
    init(of source: ByteBuffer, _ format: SourceFormat, entry: Int? = nil) throws(ImageProcessingError) {
        self.format = format
        let ended = format == .jpeg ? JPEGContainer.withEnd(source) : nil
        lacksEnd = ended != nil
        gif = format == .gif ? GIFPages(source) : nil
        if let loader = format.row.loader {
            if format == .svg { document = SVGDocument(try SVGSource.plain(source)) }
            let bytes =
                switch format {
                case .png: PNGContainer.readable(source)
                case .jpeg: JPEGContainer.withUsualEXIF(ended ?? source)
                case .webp: WebPContainer.withWholeLength(source) ?? source
                case .avif, .heic: try HEIFRequirements.readable(source)
                default: document?.bytes ?? gif?.bytes ?? source
                }
            self.bytes = bytes
            if format == .png, let frames = PNGAnimation(in: bytes) {
                animation = PNGAnimationDecoder(animation: frames, source: bytes)
            }
            codec = .loader(loader, addsAlpha: animation?.animation.clearsPixels ?? false)
            color = Self.color(of: bytes, format)
            if format == .gif { xmp = GIFContainer.xmp(of: source) }
            if format == .jxl { xmp = JPEGXLContainer.xmp(of: source) }
        } else if format == .bmp {
            bytes = source
            codec = .bitmap(BitmapDecoder(header: try BitmapHeader(ofFile: source), source: source))
        } else {
            let directory = try IconDirectory(of: source)
            let entry = directory.entries[entry ?? directory.largest]
            switch entry.format {
            case .bitmap(let header):
                bytes = source
                codec = .bitmap(BitmapDecoder(header: header, source: source))
            case .png:
                let length = source.readableBytes - entry.start
                let file = source.getSlice(at: source.readerIndex + entry.start, length: length) ?? source
                if PNGContainer.isTruncatedBeforePixels(file) { throw .corrupt("PNG in an icon ends inside a chunk") }
                bytes = PNGContainer.readable(file)
                codec = .loader(.png, addsAlpha: true)
                color = Self.color(of: bytes, .png)
            }
        }
    }

    /// The color space that a file states without an ICC profile. libvips reports none.
    static func color(of file: ByteBuffer, _ format: SourceFormat) -> (code: ColorCode, isFirst: Bool)? {
        switch format {
        case .png: PNGContainer.color(of: file)
        case .avif, .heic:
            // The container reports no code points beside a profile.
            HEIFContainer(of: file)?.color.map { (code: .codePoints(CodePoints($0)), isFirst: false) }
        default: nil
        }
    }

    /// The cost and the gaps of an SVG's embedded images.
    var measuredImages: (images: SVGDocument.Images, gaps: SVGGaps) {
        document?.measuredImages() ?? (images: SVGDocument.Images(), gaps: [])
    }

    /// Passes an image with the header's fields to `body`, which must not read its pixels.
    func withFields<Result>(
        _ options: KeyValuePairs<String, VipsValue>, _ body: (VipsImage) throws(VipsError) -> Result
    ) throws(ImageProcessingError) -> Result {
        do {
            switch codec {
            case .loader(let loader, let addsAlpha):
                return try open(loader, bytes, options) { lazy throws(VipsError) in
                    try body(addsAlpha ? lazy.addingAlpha() : lazy)
                }
            case .bitmap(let decoder):
                return try body(decoder.template())
            }
        } catch {
            throw .corrupt(error.description)
        }
    }

    /// Decodes into memory, to the last row.
    ///
    /// - Parameters:
    ///   - frames: the indices of the frames or pages to deliver, in ascending order.
    ///   - toleratesErrors: whether missing parts become gray.
    func pixels(
        _ options: KeyValuePairs<String, VipsValue>, frames: [Int], toleratesErrors: Bool,
        interrupt: @escaping Interrupt
    ) throws(ImageProcessingError) -> VipsImage {
        switch codec {
        case .bitmap(let decoder):
            return try decoder.decode(toleratesErrors: toleratesErrors, interrupt: interrupt)
        case .loader(let loader, let addsAlpha):
            do {
                return try decoded(loader, addsAlpha, options, frames, toleratesErrors, interrupt)
            } catch {
                throw interrupt() ? .interrupted : .corrupt(error.description)
            }
        }
    }

    /// The pages that a loader delivers these frames or pages as, all counted from 0.
    func pages(of frames: [Int]) -> [Int] { gif.map { gif in frames.map(gif.page) } ?? frames }

    /// The number of pages from the first to the last.
    static func span(of pages: [Int]) -> Int { (pages.last ?? 0) - (pages.first ?? 0) + 1 }

    /// The frames or pages of the file, and of an animation their delays in milliseconds and how often they play.
    func frames(in image: VipsImage) -> (count: Int, delays: [Int], loop: Int) {
        if let animation = animation?.animation {
            return (animation.frames.count, animation.frames.map(\.delay), animation.plays)
        }
        let (pages, delays, loop) = (image.int("n-pages") ?? 1, image.ints("delay") ?? [], image.int("loop") ?? 0)
        guard let gif, gif.isChanged || pages >= GIFPages.maxPages else { return (max(pages, 1), delays, loop) }
        let used = (0..<gif.count).map(gif.page)
        return (max(gif.count, 1), used.map { $0 < delays.count ? delays[$0] : 100 }, loop)
    }

    private func decoded(
        _ loader: VipsLoader, _ addsAlpha: Bool, _ options: KeyValuePairs<String, VipsValue>, _ frames: [Int],
        _ toleratesErrors: Bool, _ interrupt: @escaping Interrupt
    ) throws(VipsError) -> VipsImage {
        let hasWrongChecksum = loader == .png && PNGContainer.hasWrongChecksum(bytes)
        if let animation, !hasWrongChecksum {
            do throws(VipsError) {
                return try described(animation.decode(frames, interrupt: interrupt))
            } catch {
                // A damaged animation is its default image.
                if interrupt() { throw error }
            }
        }
        let pages = animation == nil ? pages(of: frames) : [0]
        let background = document?.background
        let render = { (lazy: VipsImage) throws(VipsError) -> VipsImage in
            var image = try addsAlpha ? lazy.addingAlpha() : lazy.withUnsignedSamples(interrupt: interrupt)
            if let background { image = try image.flattened(on: background).addingAlpha() }
            return try image.rendered(picking: pages, interrupt: interrupt)
        }
        do throws(VipsError) {
            if hasWrongChecksum, !toleratesErrors {
                throw VipsError(operation: "pngload", message: "PNG with a wrong checksum")
            }
            let source = document?.drawn(interrupt: interrupt) ?? bytes
            let image = try open(loader, source, options, toleratesErrors: toleratesErrors, render)
            if lacksEnd, !toleratesErrors { try checkLastScan(of: image, options) }
            return image
        } catch {
            guard loader == .png, !interrupt(), let whole = PNGContainer.withWholePixels(bytes) else { throw error }
            return try open(loader, whole, options, toleratesErrors: toleratesErrors, render)
        }
    }

    /// Throws if a JPEG without an end lacks parts of its last scan: other bytes behind them then give another image.
    private func checkLastScan(
        of image: VipsImage, _ options: KeyValuePairs<String, VipsValue>
    ) throws(VipsError) {
        let isSame = try open(.jpeg, JPEGContainer.withFiller(bytes), options) { other throws(VipsError) in
            try image.combining("subtract", with: other).applying("abs").maximum() == 0
        }
        guard isSame else { throw VipsError(operation: "jpegload", message: "incomplete last scan") }
    }

    private func open<Result>(
        _ loader: VipsLoader, _ bytes: ByteBuffer, _ options: KeyValuePairs<String, VipsValue>,
        toleratesErrors: Bool = false, _ body: (VipsImage) throws(VipsError) -> Result
    ) throws(VipsError) -> Result {
        var page = 0
        if case .int(let stated)? = options.first(where: { $0.key == "page" })?.value { page = stated }
        let alpha = AlphaForm(of: bytes, format, page: page)
        let isUnlimited = loader == .svg && SVGDocument.needsUnlimited(bytes)
        return try loader.withImage(
            of: bytes, options, toleratesErrors: toleratesErrors, isUnlimited: isUnlimited
        ) { lazy throws(VipsError) in
            try body(described(alpha.straightened(lazy)))
        }
    }

    /// The bits that a sample of an AVIF or HEIC has; nil = unknown.
    private var bitsInFile: Int? { HEIFContainer(of: bytes)?.bits }

    /// The image with the color space, the bits and the XMP packet that are in the bytes.
    private func described(_ image: VipsImage) throws(VipsError) -> VipsImage {
        let image = try image.withoutLongProfile().describing(color?.code, overProfile: color?.isFirst ?? false)
            .statingBits(image.isShort && (format == .avif || format == .heic) ? bitsInFile : nil)
        guard let xmp, !image.has("xmp-data") else { return image }
        return try image.setting(blobs: ["xmp-data": xmp])
    }
}

extension VipsImage {
    /// The pixels in memory.
    ///
    /// - Parameter pages: the pages to render of the pages in the image, which go from the first to the last of them.
    fileprivate func rendered(picking pages: [Int], interrupt: @escaping Interrupt) throws(VipsError) -> VipsImage {
        let loaded = SourceReader.span(of: pages)
        guard loaded > pages.count else { return try rendered(interrupt: interrupt) }
        let size = PixelSize(width: width, height: height / loaded)
        let picked = try pages.map { page throws(VipsError) in
            try extracting(x: 0, y: (page - pages[0]) * size.height, size: size)
        }
        return try VipsImage.stacked(picked, interrupt: interrupt)
    }

    fileprivate func withoutLongProfile() throws(VipsError) -> VipsImage {
        guard let profile = blob("icc-profile-data"), profile.readableBytes > SourceReader.maxProfileBytes else {
            return self
        }
        return try setting(removing: ["icc-profile-data"])
    }
}
