import DarkroomVips

/// The formats we encode: pictures, of which SVG is never one, and texts about a picture.
public enum OutputFormat: String, Codable, Sendable, CaseIterable {
    case jpeg = "jpg"
    case png, webp, avif, gif, jxl, tiff
    /// A document about the source; `OutputOptions.details` says how much of the picture that the chain makes it tells.
    case json
    /// The result as a BlurHash of 4 by 3 components.
    case blurHash = "blurhash"
    /// The result as a ThumbHash in base64.
    case thumbHash = "thumbhash"
    /// The colour that most of the result has, as `#rrggbb`.
    case color
    /// The result at 16 pixels, as a `data:` URI.
    case lqip

    /// The media type of an answer in this format.
    public var mediaType: String {
        switch self {
        case .jpeg: "image/jpeg"
        case .png, .webp, .avif, .gif, .jxl, .tiff: "image/\(rawValue)"
        case .json: "application/json"
        case .blurHash, .thumbHash, .color, .lqip: "text/plain"
        }
    }

    /// Whether it is a text about a picture, and no picture.
    public var isText: Bool { saver == nil }

    /// Whether transparency survives.
    public var supportsAlpha: Bool { self != .jpeg }
    /// Whether frames keep their delays.
    public var supportsAnimation: Bool { self == .webp || self == .gif }
    /// Whether several pages or frames fit in one file.
    public var supportsMultipleFrames: Bool { supportsAnimation || self == .tiff }
    /// Whether `quality` means anything.
    public var isLossy: Bool { defaultQuality != nil }
    /// Whether a lossy format also has a lossless mode.
    public var supportsLossless: Bool { self == .webp || self == .avif || self == .jxl }
    /// Whether the format can be stored coarse to fine.
    public var supportsInterlacing: Bool { self == .jpeg || self == .png || self == .gif }

    /// Quality 1…100 where none is asked for; nil for formats without one.
    public var defaultQuality: Int? {
        switch self {
        case .jpeg: 80
        case .webp: 79
        case .avif: 60
        case .jxl: 77
        case .png, .gif, .tiff, .json, .blurHash, .thumbHash, .color, .lqip: nil
        }
    }

    /// The longest side that the format can hold, in pixels.
    public var maxSide: Int {
        switch self {
        case .webp: 16_383
        case .avif: 16_384
        case .jpeg: 65_500
        case .gif: 65_535
        case .png, .jxl, .tiff, .json, .blurHash, .thumbHash, .color, .lqip: 1_000_000
        }
    }

    /// Whether this machine's libvips can write it.
    public var isAvailable: Bool { saver.map(VipsRuntime.canSave) ?? true }

    /// Nil for texts.
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

    /// The source's own format where browsers show it; else PNG for alpha, JPEG without.
    static func natural(for source: SourceFormat, hasAlpha: Bool) -> OutputFormat {
        switch source {
        case .jpeg: hasAlpha ? .png : .jpeg
        case .png: .png
        case .webp: .webp
        case .gif: .gif
        case .avif: .avif
        case .heic, .jxl, .tiff, .svg: hasAlpha ? .png : .jpeg
        }
    }
}
