import DarkroomVips
public import NIOCore

/// The facts of a source that its header states, before any pixel is decoded.
public struct SourceHeader: Hashable, Sendable {
    /// Detected by the bytes.
    public let format: SourceFormat
    /// The size of one frame as stored, before EXIF orientation. For a vector image, its natural size at 72 dpi.
    public let size: PixelSize
    /// Frames or pages in the file, at least 1.
    public let frames: Int
    /// EXIF orientation 1…8. HEIC and AVIF have theirs in the container and are decoded upright: 1. So have icons.
    public let orientation: Int
    let hasAlpha: Bool
    let shrinking: ShrinkOnLoad
    /// Whether the decoder has to buffer a whole frame at full size before it can deliver a row: progressive JPEG,
    /// interlaced PNG, WebP with lossless parts.
    let needsWholeSource: Bool

    /// Detects the format and reads the header. Throws `.unsupported`, `.corrupt`, or `.tooLarge` for a gzipped SVG.
    public init(of source: ByteBuffer) throws(ImageProcessingError) {
        guard let format = SourceFormat(sniffing: source) else { throw .unsupported }
        if format == .png, PNGChunks.exceedsSource(source) { throw .corrupt("PNG ends inside a chunk") }
        let reader = try SourceReader(of: source, format)
        do {
            self = try reader.withFields { image throws(VipsError) in
                var size = PixelSize(width: image.width, height: image.int("page-height") ?? image.height)
                if format == .svg { size = try SVGSource.naturalSize(size, of: reader.bytes) }
                return SourceHeader(format: format, size: size, source: reader.bytes, image: image)
            }
        } catch {
            // TIFF is a container of many codecs: a directory that is present but unreadable means an unsupported one.
            if format == .tiff, TIFFDirectory.isPresent(in: source) { throw .unsupported }
            throw .corrupt(error.description)
        }
    }

    private init(format: SourceFormat, size: PixelSize, source: ByteBuffer, image: VipsImage) {
        self.format = format
        self.size = size
        frames = max(image.int("n-pages") ?? 1, 1)
        let stated = image.int("orientation") ?? 1
        orientation = (1...8).contains(stated) && format.statesOrientation ? stated : 1
        hasAlpha = image.hasAlpha
        shrinking = ShrinkOnLoad(format, source: source, image: image)
        needsWholeSource =
            switch format {
            case .jpeg, .webp: shrinking == .never
            case .png: image.int("interlaced") == 1
            default: false
            }
    }

    /// The plan before the first transform.
    public var plan: ChainPlan {
        ChainPlan(
            source: size, orientation: orientation, isVector: format.isVector, hasAlpha: hasAlpha, shrinking: shrinking)
    }
}
