import DarkroomVips

/// The output formats: raster images, and texts that describe an image.
public enum OutputFormat: String, Codable, Sendable, CaseIterable {
    case jpeg = "jpg"
    case png, webp, avif, gif, jxl, tiff
    /// A JSON document about the source and, with `OutputOptions.details`, about the chain's result.
    case json
    /// The result as a BlurHash of 4 by 3 components.
    case blurHash = "blurhash"
    /// The result as a ThumbHash in base64.
    case thumbHash = "thumbhash"
    /// The dominant color of the result, as `#rrggbb`.
    case color
    /// A low-quality placeholder: the result at 16 pixels, as a `data:` URI.
    case lqip

    /// The media type of a response in this format.
    public var mediaType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png, .webp, .avif, .gif, .jxl, .tiff: "image/\(rawValue)"
        case .json: "application/json"
        case .blurHash, .thumbHash, .color, .lqip: "text/plain"
        }
    }

    /// Whether it is a text that describes an image.
    public var isText: Bool { saver == nil }

    /// Whether it has an alpha channel.
    public var supportsAlpha: Bool { self != .jpeg }
    /// Whether it can be animated.
    public var supportsAnimation: Bool { self == .webp || self == .gif }
    /// Whether a file can hold several frames or pages.
    public var supportsMultipleFrames: Bool { supportsAnimation || self == .tiff }
    /// Whether it has a quality setting.
    public var isLossy: Bool { defaultQuality != nil }
    /// Whether a lossy format also has a lossless mode.
    public var supportsLossless: Bool { self == .webp || self == .avif || self == .jxl }
    /// Whether it has a progressive or interlaced form.
    public var supportsInterlacing: Bool { self == .jpeg || self == .png || self == .gif }

    /// The default quality, 1…100; nil for formats without one. Photographs look about equally good at all defaults: at
    /// 400 pixels, their mean SSIMULACRA2 scores are within 1.5 points.
    public var defaultQuality: Int? {
        switch self {
        case .jpeg: 80
        case .webp: 82
        case .avif: 68
        case .jxl: 80
        case .png, .gif, .tiff, .json, .blurHash, .thumbHash, .color, .lqip: nil
        }
    }

    /// The longest side in pixels that the format can hold.
    public var maxSide: Int {
        switch self {
        case .webp: 16_383
        case .avif: 16_384
        case .jpeg: 65_500
        case .gif: 65_535
        case .png, .jxl, .tiff, .json, .blurHash, .thumbHash, .color, .lqip: 1_000_000
        }
    }

    /// Whether this machine can encode it.
    public var isAvailable: Bool { isText || InstalledCodecs.current.writable.contains(self) }

    /// The libvips encoder; nil for texts.
    var saver: VipsSaver? {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .avif: .heif
        case .gif: .gif
        case .jxl: .jxl
        case .tiff: .tiff
        case .json, .blurHash, .thumbHash, .color, .lqip: nil
        }
    }

    /// The source's own format if browsers support it and this machine can encode it; otherwise PNG with alpha and JPEG
    /// without.
    package static func natural(for source: SourceFormat, hasAlpha: Bool) -> OutputFormat {
        let format = shown(for: source, hasAlpha: hasAlpha)
        return format.isAvailable ? format : hasAlpha ? .png : .jpeg
    }

    private static func shown(for source: SourceFormat, hasAlpha: Bool) -> OutputFormat {
        switch source {
        case .jpeg: hasAlpha ? .png : .jpeg
        case .png: .png
        case .webp: .webp
        case .gif: .gif
        case .avif: .avif
        case .ico: .png
        case .heic, .jxl, .tiff, .svg, .bmp: hasAlpha ? .png : .jpeg
        }
    }
}
