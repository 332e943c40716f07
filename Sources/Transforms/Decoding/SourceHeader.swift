public import DarkroomRequests
import DarkroomVips
public import NIOCore

/// The facts of a source that its header states, before any pixel is decoded.
public struct SourceHeader: Hashable, Sendable {
    /// Detected by the bytes.
    public let format: SourceFormat
    /// The size of one frame as stored, before EXIF orientation. For a vector image, its natural size in
    /// pixels of CSS.
    public let size: PixelSize
    /// Frames or pages in the file, at least 1.
    public let frames: Int
    /// The delay of each frame of an animation in milliseconds, as the file states it; empty for other files.
    let delays: [Int]
    /// How many times an animation plays; 0 = indefinitely.
    let loop: Int
    /// The frame or page described, counted from 1. For a number that the file does not have, the first is described.
    private(set) var page = 1
    /// The index of the icon's image that was asked for; nil = the image that suits the request.
    private(set) var entry: Int?
    /// EXIF orientation 1…8. HEIC and AVIF have their orientation in the container and are decoded upright, so it is 1.
    /// It is 1 for icons too.
    public let orientation: Int
    let hasAlpha: Bool
    /// Whether its samples are decoded to 16 bits.
    let isDeep: Bool
    let shrinking: ShrinkOnLoad
    /// Whether the decoder has to buffer a whole frame at full size before it can deliver a row: progressive JPEG,
    /// interlaced PNG, WebP with lossless parts.
    let needsWholeSource: Bool
    /// Whether the source is an animation whose frames are stored with loss (WebP).
    let isLossyAnimation: Bool
    /// The scans of a JPEG; 1 for other formats.
    private(set) var scans = 1
    /// The length of a vector image's document in bytes, inflated if it is gzipped; 0 for other formats.
    let plainBytes: Int
    /// The filters of a vector image.
    let filters: SVGFilters
    /// The embedded images of a vector image that are decoded.
    private(set) var embedded = SVGDocument.Images()
    /// What of a vector image is not drawn as in browsers.
    private(set) var gaps: SVGGaps = []
    /// The cost of ``ColorConversion`` on the image, which depends on its profile.
    let conversionCost: TransformCost

    /// Detects the format and reads the header. Throws `.unsupported`, `.corrupt`, or `.tooLarge` for a file that takes
    /// too long to read its header from.
    public init(of source: ByteBuffer) throws(ImageProcessingError) {
        self = try Self.read(source, pages: PageSelection(), maxPages: 1).header
    }

    /// Reads the header of the frame or page that ``PageSelection/first`` names.
    ///
    /// - Parameter maxPages: the most pages that are compared for the largest or smallest; more are `.tooLarge`.
    /// - Returns: the header, and the reader, which has walked the whole file in some formats.
    static func read(
        _ source: ByteBuffer, pages: PageSelection, maxPages: Int
    ) throws(ImageProcessingError) -> (header: SourceHeader, reader: SourceReader) {
        guard let format = SourceFormat(sniffing: source) else { throw .unsupported }
        guard format.isAvailable else { throw .missingDecoder(format) }
        if format == .png {
            if PNGContainer.isTruncatedBeforePixels(source) { throw .corrupt("PNG ends inside a chunk") }
            if PNGContainer.hasWrongChecksum(source, beforePixels: true) { throw .corrupt("PNG with a wrong checksum") }
        }
        let scans = try HeaderLimits.check(source, format)
        let entry = format == .ico ? try IconDirectory(of: source).index(ofPage: pages.first) : nil
        let reader = try SourceReader(of: source, format, entry: entry)
        var header = try read(reader, format)
        header.entry = entry
        header.scans = scans
        if format == .svg { (header.embedded, header.gaps) = reader.measuredImages }
        let page = pages.mayBeFewer ? min(pages.first, header.frames) : pages.first
        if !format.row.hasPages {
            header.page = max(page, 1)
        } else if header.frames > 1, page != PageSelection.primary {
            header = try header.with(page: page, reader, maxPages: maxPages)
        } else if page > 1 {
            header.page = page
        }
        return (header, reader)
    }

    /// The header of another page of this document.
    private func with(
        page: Int, _ reader: SourceReader, maxPages: Int
    ) throws(ImageProcessingError) -> SourceHeader {
        guard page < 1 else {
            var header = page <= frames ? try Self.read(reader, format, page: page) : self
            header.page = page
            return header
        }
        guard frames <= maxPages else {
            throw .tooLarge(
                "The source has \(frames) pages; at most \(maxPages) are compared. Ask for one by its number.")
        }
        var chosen = try Self.read(reader, format, page: 1)
        for number in 2...frames {
            let other = try Self.read(reader, format, page: number)
            let (area, best) = (other.size.area, chosen.size.area)
            if page == PageSelection.largest ? area > best : area < best { chosen = other }
        }
        return chosen
    }

    private static func read(
        _ reader: SourceReader, _ format: SourceFormat, page: Int = PageSelection.primary
    ) throws(ImageProcessingError) -> SourceHeader {
        let header: SourceHeader
        do throws(ImageProcessingError) {
            header = try reader.withFields(format.options(forPage: page)) { image in
                var size = PixelSize(width: image.width, height: image.int("page-height") ?? image.height)
                if format == .svg { size = SVGSource.naturalSize(size, of: reader) }
                var header = SourceHeader(format: format, size: size, reader: reader, image: image)
                header.page = page == PageSelection.primary ? (image.int("heif-primary") ?? 0) + 1 : page
                return header
            }
        } catch {
            // TIFF is a container of many codecs: a directory that is present but unreadable means an unsupported
            // codec.
            throw format == .tiff && TIFFDirectory.isPresent(in: reader.bytes) ? .unsupported : error
        }
        guard max(header.size.width, header.size.height) <= maxSide else {
            throw .tooLarge("The source is \(header.size) pixels; at most \(maxSide) per side are accepted.")
        }
        return header
    }

    /// The longest side in pixels: products of two sides must not overflow.
    package static let maxSide = 1_000_000_000

    private init(format: SourceFormat, size: PixelSize, reader: SourceReader, image: VipsImage) {
        let source = reader.bytes
        self.format = format
        self.size = size
        let all = reader.frames(in: image)
        frames = all.count
        (delays, loop) = format.isAnimation && frames > 1 ? (all.delays, all.loop) : ([], 0)
        let stated = image.int("orientation") ?? 1
        orientation = (1...8).contains(stated) && format.row.statesOrientation ? stated : 1
        hasAlpha = image.hasAlpha
        isDeep = ["ushort", "short", "uint", "int"].contains(image.sampleFormat) && !image.isWideLab
        shrinking = ShrinkOnLoad(format, source: source, image: image)
        filters = format.isVector ? SVGFilters(of: source) : SVGFilters()
        plainBytes = format.isVector ? source.readableBytes : 0
        conversionCost = image.conversionCost
        isLossyAnimation = format == .webp && frames > 1 && WebPContainer.isLossy(source)
        needsWholeSource =
            switch format {
            case .jpeg, .webp: shrinking == .never
            case .png: image.int("interlaced") == 1
            default: false
            }
    }

    /// Passes an image with the fields of this header's page to `body`, which must not read its pixels.
    func withFields<Result>(
        of source: ByteBuffer, _ body: (VipsImage) throws(VipsError) -> Result
    ) throws(ImageProcessingError) -> Result {
        try SourceReader(of: source, format, entry: entry).withFields(format.options(forPage: page), body)
    }

    /// The plan before the first transform.
    public var plan: ChainPlan {
        ChainPlan(
            source: size, orientation: orientation, isVector: format.isVector, isPhotographic: isPhotographic,
            hasAlpha: hasAlpha, shrinking: shrinking)
    }

    /// Whether the file was probably compressed with loss.
    private var isPhotographic: Bool {
        switch format {
        case .jpeg, .heic, .avif, .jxl: true
        case .webp: shrinking != .never
        case .png, .gif, .tiff, .svg, .bmp, .ico: false
        }
    }
}
