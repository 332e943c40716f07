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

    /// What requests depend on. How this machine encodes the format is in the room of transforms.
    package var traits: Traits {
        switch self {
        case .jpeg: .jpeg
        case .png: .png
        case .webp: .webp
        case .avif: .avif
        case .gif: .gif
        case .jxl: .jxl
        case .tiff: .tiff
        case .json: .json
        case .blurHash, .thumbHash, .color, .lqip: .text
        }
    }

    /// What requests depend on and what differs from format to format.
    package struct Traits: Sendable {
        /// The frames that a file can hold.
        package enum Frames: Sendable { case one, animation, pages }

        /// The usual spelling; nil = the name of the format in queries, in capitals.
        var name: String?
        var mediaType: String
        var aliases: [String] = []
        var extensions: [String]
        /// Whether it is a text that describes an image.
        var isText = false
        /// Whether every complete build of libvips encodes it.
        package var isEssential = false
        /// The package that adds the encoder to Debian's libvips; nil = another libvips.
        package var debianPackage: String?
        /// Whether it is sent only to clients whose `Accept` names it, so that `output=auto` may choose it.
        var isNegotiated = false
        var hasAlpha = true
        var frames = Frames.one
        /// Whether a lossy format also has a lossless mode.
        var hasLosslessMode = false
        /// Whether lossy images may have chroma at half the resolution.
        var samplesChroma = false
        /// Whether a file can state another color space than sRGB.
        var holdsProfile = true
        /// The most bits of a sample that results have.
        var maxDepth = 8
        /// Whether it has a progressive or interlaced form.
        var isInterlaceable = false
        /// 1…100; nil = no quality setting.
        var defaultQuality: Int?
        /// Whether it can be predicted how an image looks at each quality.
        package var isJudged = false
        /// Whether a source can be the result, as it is or as a file of this format.
        package var holdsSources = false
        var maxSide = 1_000_000
    }
}

extension OutputFormat.Traits {
    fileprivate static let jpeg = Self(
        name: "JPEG", mediaType: "image/jpeg", aliases: ["jpeg"], extensions: ["jpg", "jpeg", "jpe"], isEssential: true,
        hasAlpha: false, samplesChroma: true, isInterlaceable: true, defaultQuality: 80, isJudged: true,
        holdsSources: true, maxSide: 65_500)

    fileprivate static let png = Self(
        mediaType: "image/png", extensions: ["png"], isEssential: true, maxDepth: 16, isInterlaceable: true,
        holdsSources: true)

    fileprivate static let webp = Self(
        name: "WebP", mediaType: "image/webp", extensions: ["webp"], isEssential: true, isNegotiated: true,
        frames: .animation, hasLosslessMode: true, samplesChroma: true, defaultQuality: 82, isJudged: true,
        holdsSources: true, maxSide: 16_383)

    fileprivate static let avif = Self(
        mediaType: "image/avif", extensions: ["avif"], debianPackage: "libheif-plugin-aomenc", isNegotiated: true,
        hasLosslessMode: true, samplesChroma: true, maxDepth: 10, defaultQuality: 67, isJudged: true, maxSide: 16_384)

    fileprivate static let gif = Self(
        mediaType: "image/gif", extensions: ["gif"], frames: .animation, holdsProfile: false, isInterlaceable: true,
        defaultQuality: 80, holdsSources: true, maxSide: 65_535)

    fileprivate static let jxl = Self(
        name: "JPEG XL", mediaType: "image/jxl", extensions: ["jxl"], isNegotiated: true, frames: .animation,
        hasLosslessMode: true, maxDepth: 16, defaultQuality: 80, isJudged: true, holdsSources: true)

    fileprivate static let tiff = Self(
        mediaType: "image/tiff", aliases: ["tif"], extensions: ["tiff", "tif"], frames: .pages)

    fileprivate static let json = Self(mediaType: "application/json", extensions: ["json"], isText: true)

    fileprivate static let text = Self(mediaType: "text/plain", extensions: ["txt"], isText: true)
}

extension OutputFormat {
    /// The media type of a response in this format.
    public var mediaType: String { traits.mediaType }
    /// Other names in queries, such as `jpeg`.
    package var aliases: [String] { traits.aliases }
    /// The file extensions, the extension of results first.
    package var extensions: [String] { traits.extensions }
    /// Whether it is a text that describes an image.
    public var isText: Bool { traits.isText }
    /// Whether it has an alpha channel.
    public var supportsAlpha: Bool { traits.hasAlpha }
    /// Whether it can be animated.
    public var supportsAnimation: Bool { traits.frames == .animation }
    /// Whether a file can hold several frames or pages.
    public var supportsMultipleFrames: Bool { traits.frames != .one }
    /// Whether it has a quality setting.
    public var isLossy: Bool { defaultQuality != nil }
    /// The default quality, 1…100; nil for formats without one. Photographs look about equally good at all defaults: at
    /// 400 pixels, their mean SSIMULACRA2 scores are within 1.5 points.
    public var defaultQuality: Int? { traits.defaultQuality }
    /// The longest side in pixels that the format can hold.
    public var maxSide: Int { traits.maxSide }
    /// Whether `ll` has an effect.
    package var hasLosslessMode: Bool { traits.hasLosslessMode }
    /// Whether `chroma` has an effect.
    package var samplesChroma: Bool { traits.samplesChroma }
    /// Whether `gamut` has an effect.
    package var holdsProfile: Bool { traits.holdsProfile && !isText }
    /// The most bits of a sample that results have.
    package var maxDepth: Int { traits.maxDepth }
    /// Whether `il` has an effect.
    package var isInterlaceable: Bool { traits.isInterlaceable }

    /// The image formats.
    package static let images = allCases.filter { !$0.isText }
    /// The formats that are sent only to clients whose `Accept` names them.
    package static let negotiated = allCases.filter(\.traits.isNegotiated)
    /// The formats that a result can have because its source has them, and the formats that replace them.
    package static let chosen: [OutputFormat] = [.jpeg, .png, .gif, .webp, .avif]
    /// The names of the image formats for which that is true, as in a sentence.
    package static func names(_ word: String, where isMeant: (OutputFormat) -> Bool) -> String {
        images.filter(isMeant).map(\.name).listed(word)
    }

    /// The usual spelling of an image format, such as `JPEG XL`.
    package var name: String { traits.name ?? rawValue.uppercased() }

    /// The image formats, the most widely supported first.
    package static let imagesByReach =
        images.filter(\.traits.isEssential) + images.filter { !$0.traits.isEssential && !$0.traits.isNegotiated }
        + images.filter { !$0.traits.isEssential && $0.traits.isNegotiated }

    /// Why a result cannot have the format on a machine without its encoder, and what helps, as a clause for clients.
    package var reasonWithoutEncoder: String {
        "this server has no encoder for \(rawValue); ask for another format, or its operator can install "
            + encoderRemedy
    }

    /// The packages with an encoder, as the object of a sentence. The names are packages of Debian and Ubuntu.
    package var encoderRemedy: String {
        traits.debianPackage.map { "the package \($0)" } ?? "a libvips that writes \(rawValue)"
    }
}

extension [String] {
    /// The names as in a sentence, such as `a, b and c`.
    package func listed(_ word: String) -> String {
        count < 2 ? joined() : "\(dropLast().joined(separator: ", ")) \(word) \(self[count - 1])"
    }
}

/// A set of image formats that a result can have.
public struct FormatSet: OptionSet, Hashable, Codable, Sendable {
    /// One bit for each image format.
    public let rawValue: UInt16

    /// The formats of these bits.
    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// The set of one format; empty for a text.
    public init(_ format: OutputFormat) {
        self.init(rawValue: OutputFormat.images.firstIndex(of: format).map { 1 << UInt16($0) } ?? 0)
    }

    public func contains(_ format: OutputFormat) -> Bool { !isDisjoint(with: FormatSet(format)) }
}
