/// The output format and its encoding options.
///
/// The initializer drops options that the format does not support, so that equal values mean equal encodings.
public struct OutputOptions: Hashable, Sendable {
    /// Nil = the source's own format if browsers support it; otherwise PNG with alpha and JPEG without.
    public let format: OutputFormat?
    /// 1…100; nil = the format's default.
    public let quality: Int?
    /// Whether pixels are encoded without loss, in a format with such a mode.
    public let lossless: Bool
    /// Whether the result is a progressive JPEG, or an interlaced PNG or GIF.
    public let interlaced: Bool
    /// The additional members of a document; only for `json`.
    public let details: ImageDetails

    /// By default the source's own format at its default quality.
    public init(
        format: OutputFormat? = nil, quality: Int? = nil, lossless: Bool = false, interlaced: Bool = false,
        details: ImageDetails = []
    ) {
        let lossless = lossless && (format?.supportsLossless ?? true)
        let usable = !lossless && (format?.isLossy ?? true) && quality != format?.defaultQuality
        self.format = format
        self.lossless = lossless
        self.quality = usable ? quality : nil
        self.interlaced = interlaced && (format?.supportsInterlacing ?? true)
        self.details = format == .json ? details : []
    }

    /// The options' part of the variant key.
    public var key: String {
        let name = format?.rawValue ?? "natural"
        let details = details.isEmpty ? "" : ",\(details.rawValue)"
        return
            "\(name)(\(quality.map(String.init) ?? "-"),\(lossless ? "ll" : "-"),\(interlaced ? "il" : "-")\(details))"
    }

    /// Whether the source's header suffices, so that nothing is decoded.
    var isHeaderOnly: Bool { format == .json && !details.needsPixels }

    /// The same options for a format that the source has decided.
    func resolved(for format: OutputFormat) -> OutputOptions {
        OutputOptions(format: format, quality: quality, lossless: lossless, interlaced: interlaced)
    }
}

/// The members of a JSON document besides those that the header states.
public struct ImageDetails: OptionSet, Hashable, Sendable {
    /// One bit for each detail.
    public let rawValue: Int

    /// The details of these bits.
    public init(rawValue: Int) { self.rawValue = rawValue }

    /// The dominant and the average color.
    public static let color = ImageDetails(rawValue: 1 << 0)
    /// Up to six colors, the most frequent first.
    public static let palette = ImageDetails(rawValue: 1 << 1)
    /// A BlurHash of 4 by 3 components.
    public static let blurHash = ImageDetails(rawValue: 1 << 2)
    /// A ThumbHash in base64.
    public static let thumbHash = ImageDetails(rawValue: 1 << 3)
    /// A placeholder of 16 pixels as a `data:` URI.
    public static let lqip = ImageDetails(rawValue: 1 << 4)
    /// The camera's settings.
    public static let exif = ImageDetails(rawValue: 1 << 5)
    /// The position where the image was taken. Not part of `all`, so that it is never disclosed by accident.
    public static let position = ImageDetails(rawValue: 1 << 6)

    /// All details except the position.
    public static let all: ImageDetails = [.color, .palette, .blurHash, .thumbHash, .lqip, .exif]

    /// Whether any of them requires decoded pixels.
    var needsPixels: Bool { !subtracting([.exif, .position]).isEmpty }
}
