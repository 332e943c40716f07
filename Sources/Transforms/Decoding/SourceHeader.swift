import DarkroomVips
public import NIOCore

/// What a source says of itself before any pixel is decoded.
public struct SourceHeader: Hashable, Sendable {
    /// Told by the bytes.
    public let format: SourceFormat
    /// One frame, as stored: before EXIF orientation. For a vector picture, its natural size at 72 dpi.
    public let size: PixelSize
    /// Frames or pages in the file, at least 1.
    public let frames: Int
    /// EXIF orientation 1…8. HEIC and AVIF carry theirs in the container and are upright already: 1.
    public let orientation: Int
    let hasAlpha: Bool
    let shrinking: ShrinkOnLoad
    /// Whether no row can be had before all of the frame is in memory, decoded or half-decoded, at its full size.
    let isHeldWhole: Bool

    /// Sniffs the bytes and reads the header. Throws `.unsupported` or `.corrupt`.
    public init(of source: ByteBuffer) throws(ImageProcessingError) {
        guard let format = SourceFormat(sniffing: source) else { throw .unsupported }
        if format == .png, PNGChunks.exceedsSource(source) { throw .corrupt("PNG: ends inside a chunk") }
        let readable = format == .svg ? try SVGSource.plain(source) : source
        do {
            self = try format.loader.withImage(of: readable, ["access": "sequential"]) { image throws(VipsError) in
                var size = PixelSize(width: image.width, height: image.int("page-height") ?? image.height)
                if format == .svg { size = try SVGSource.naturalSize(size, of: readable) }
                return SourceHeader(format: format, size: size, source: readable, image: image)
            }
        } catch {
            // TIFF is a container of anything: a directory that is there but cannot be read is none of the kinds we decode.
            if format == .tiff, TIFFDirectory.isPresent(in: source) { throw .unsupported }
            throw .corrupt(error.description)
        }
    }

    private init(format: SourceFormat, size: PixelSize, source: ByteBuffer, image: VipsImage) {
        self.format = format
        self.size = size
        frames = max(image.int("n-pages") ?? 1, 1)
        let stated = image.int("orientation") ?? 1
        orientation = (1...8).contains(stated) && format != .avif && format != .heic ? stated : 1
        hasAlpha = image.hasAlpha
        shrinking = ShrinkOnLoad(format, source: source, image: image)
        isHeldWhole =
            switch format {
            case .jpeg, .webp: shrinking == .never
            case .png: image.int("interlaced") == 1
            default: false
            }
    }

    /// The plan's first line.
    public var plan: ChainPlan {
        ChainPlan(
            source: size, orientation: orientation, isVector: format.isVector, hasAlpha: hasAlpha, shrinking: shrinking)
    }
}
