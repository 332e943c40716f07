/// The output format and its encoding options.
///
/// Options that the format does not support are dropped, so that equal values mean equal encodings.
public struct OutputOptions: Hashable, Codable, Sendable {
    /// Nil = the source's own format if browsers support it; otherwise PNG with alpha and JPEG without.
    public package(set) var format: OutputFormat?
    /// 1…100; nil = the format's default. With `nearLossless`, the least fidelity; its default is 60.
    public package(set) var quality: Int?
    /// Chooses the quality by the image; nil = `quality`.
    public package(set) var target: QualityTarget?
    /// The most bytes of the result: quality is lowered, to 20 at worst, until it fits; nil = any number.
    public package(set) var maxBytes: Int?
    /// The resolution of chroma in JPEG, WebP and AVIF; nil = full for drawings and at qualities from 90 on.
    public package(set) var chroma: ChromaSampling?
    /// Whether pixels are encoded without loss, in a format with such a mode. Otherwise a drawing is, if it is smaller.
    public package(set) var lossless: Bool
    /// Whether a WebP is encoded without loss after small changes to pixels that make it smaller.
    public package(set) var nearLossless: Bool
    /// Whether the result is a progressive JPEG, or an interlaced PNG or GIF.
    public package(set) var interlaced: Bool
    /// Whether a PNG has at most 256 colors.
    public package(set) var palette: Bool
    /// Whether a source may be the result; never if the result is interlaced or has a palette.
    public package(set) var passthrough: Passthrough
    /// The metadata that a result keeps of its source.
    public package(set) var metadata: MetadataPolicy
    /// Whether a JPEG keeps the gain map of its source; nil = if it takes at most a third more bytes.
    public package(set) var hdr: HDRPolicy?
    /// Whether a damaged source is shown as far as it can be decoded.
    public package(set) var damaged: DamagePolicy
    /// The compression level of a PNG, one of ``compressionLevels``; nil = the level of the server's efforts.
    public package(set) var compression: Int?
    /// Whether each row of a PNG is filtered by the filter that suits it, and a PNG of few colors has no palette.
    /// Otherwise both are chosen by the pixels.
    public package(set) var filtersRows: Bool
    /// The additional members of a document; only for `json`.
    public package(set) var details: ImageDetails
    /// The formats that the result may have instead of ``format``.
    public package(set) var alternative: AlternativeFormat
    /// The formats that the result never has where the source decides its format: the client may not show them.
    public package(set) var excluded: FormatSet

    /// By default the source's own format at its default quality.
    public init(
        format: OutputFormat? = nil, quality: Int? = nil, target: QualityTarget? = nil,
        maxBytes: Int? = nil, chroma: ChromaSampling? = nil,
        lossless: Bool = false, nearLossless: Bool = false, interlaced: Bool = false, palette: Bool = false,
        compression: Int? = nil, filtersRows: Bool = false, passthrough: Passthrough = .off,
        metadata: MetadataPolicy = .rights, hdr: HDRPolicy? = nil, damaged: DamagePolicy = .refuse,
        details: ImageDetails = [], alternative: AlternativeFormat = .none, excluded: FormatSet = []
    ) {
        (self.format, self.quality, self.target) = (format, quality, target)
        (self.maxBytes, self.chroma) = (maxBytes, chroma)
        (self.lossless, self.nearLossless) = (lossless, nearLossless)
        (self.interlaced, self.palette, self.passthrough) = (interlaced, palette, passthrough)
        (self.compression, self.filtersRows, self.metadata) = (compression, filtersRows, metadata)
        (self.hdr, self.damaged) = (hdr, damaged)
        (self.details, self.alternative, self.excluded) = (details, alternative, excluded)
        normalize()
    }

    /// Drops the options that the format does not support. Call it after changes.
    package mutating func normalize() {
        if format?.isText ?? true { alternative = .none }
        if format == .webp, alternative == .webp { alternative = .natural }
        normalizeExcluded()
        nearLossless = nearLossless && (format ?? .webp) == .webp
        lossless = lossless && !nearLossless && (format?.hasLosslessMode ?? true)
        let isLossy = !lossless && !nearLossless && (format?.isLossy ?? true)
        let isJudged = isLossy && (format?.traits.isJudged ?? true)
        if !isJudged, !nearLossless || format != nil { target = nil }
        normalizeQuality(hasQuality: target == nil && (isLossy || nearLossless))
        if let format, !isOpen, !isLossy || !format.samplesChroma { chroma = nil }
        if format?.isText == true { (maxBytes, metadata) = (nil, .rights) }
        interlaced = interlaced && (format?.isInterlaceable ?? true)
        palette = palette && (format ?? .png) == .png
        if !isOpen, format != .jpeg { hdr = nil }
        let canPassOn = isOpen || format?.traits.holdsSources ?? false
        if !canPassOn || interlaced || palette { passthrough = .off }
        if (format ?? .png) != .png { (compression, filtersRows) = (nil, false) }
        if format != .json { details = [] }
    }

    /// Keeps the formats that make a difference, so that most clients who accept a format share its variant. WebP holds
    /// everything: only an image that would take too long has another format, which any client gets rather than none.
    private mutating func normalizeExcluded() {
        if !isOpen || format == .webp || alternative == .webp { excluded = [] }
        if format != nil { excluded.remove(FormatSet(.avif)) }
    }

    private mutating func normalizeQuality(hasQuality: Bool) {
        // The result may become another format, whose default differs.
        let defaultQuality =
            alternative == .none
            ? nearLossless ? format.map { _ in Self.nearLosslessQuality } : format?.defaultQuality : nil
        if !hasQuality || quality == defaultQuality { quality = nil }
    }

    /// Whether the server chooses the format, by the source or by what the client accepts.
    package var isOpen: Bool { format == nil || alternative != .none }

    /// Whether an AVIF is compared with a WebP, which may become the result: the server chooses the format, and the
    /// client accepts both.
    package var mayYieldToWebP: Bool { format == .avif && alternative == .webp && !lossless }

    /// The options' part of the variant key.
    public var key: String {
        let name = format?.rawValue ?? "natural"
        var parts = [quality.map(String.init) ?? "-", lossless ? "ll" : "-", interlaced ? "il" : "-"]
        if let target { parts.append("auto-\(target.rawValue)") }
        if let maxBytes { parts.append("max-\(maxBytes)") }
        if let chroma { parts.append("chroma-\(chroma.rawValue)") }
        if nearLossless { parts.append("nl") }
        if palette { parts.append("palette") }
        if passthrough != .off { parts.append("pass-\(passthrough.rawValue)") }
        if metadata != .rights { parts.append("metadata-\(metadata.rawValue)") }
        if let hdr { parts.append("hdr-\(hdr.rawValue)") }
        if damaged != .refuse { parts.append("damaged-\(damaged.rawValue)") }
        if let compression { parts.append("level-\(compression)") }
        if filtersRows { parts.append("filters") }
        if !details.isEmpty { parts.append("\(details.rawValue)") }
        if alternative != .none { parts.append(alternative.rawValue) }
        if !excluded.isEmpty { parts.append("not-\(excluded.rawValue)") }
        return "\(name)(\(parts.joined(separator: ",")))"
    }

    /// Whether the source's header is sufficient, so that nothing is decoded.
    package var isHeaderOnly: Bool { format == .json && !details.needsPixels }

    /// The same options for another format.
    package func converted(to format: OutputFormat?, alternative: AlternativeFormat = .none) -> OutputOptions {
        var converted = self
        (converted.format, converted.alternative) = (format, alternative)
        converted.normalize()
        return converted
    }

    /// Whether the result of some source may state another color space than sRGB.
    package var mayHoldProfile: Bool { isOpen || format?.holdsProfile ?? true }

    /// Whether the result of some source may have more than 8 bits in a sample.
    package var mayBeDeep: Bool {
        isOpen ? !palette : format.map { depth(in: $0, hasAlpha: false) > 8 } ?? !palette
    }

    /// The bits of a sample in this format, for a source of more than 8. AVIF with alpha or without loss has 8, because
    /// libheif before 1.16 has no other form of it.
    package func depth(in format: OutputFormat, hasAlpha: Bool) -> Int {
        switch format {
        case .avif where hasAlpha || lossless: 8
        case .png where palette: 8
        default: format.maxDepth
        }
    }

    package func permits(_ result: OutputFormat) -> Bool {
        isOpen ? !result.isText : format == result
    }

    /// Whether the result of some source may have, or describe, several frames.
    package var mayHoldSeveralFrames: Bool {
        alternative != .none || details.contains(.wsrv) || format?.supportsMultipleFrames ?? true
    }

    package static let compressionLevels = 1...9
    /// The default fidelity of near-lossless WebP, as in libwebp's tools.
    package static let nearLosslessQuality = 60
}

/// The members of a JSON document in addition to the members that the header states.
public struct ImageDetails: OptionSet, Hashable, Codable, Sendable {
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
    /// The document has the members of weserv/images instead, about the chain's result.
    public static let wsrv = ImageDetails(rawValue: 1 << 7)

    /// The faces, in the upright source. Not part of `all`: finding them takes longest, and servers may not look for
    /// any.
    public static let faces = ImageDetails(rawValue: 1 << 8)

    /// All details except position and faces.
    public static let all: ImageDetails = [.color, .palette, .blurHash, .thumbHash, .lqip, .exif]

    /// Whether any of them requires decoded pixels.
    package var needsPixels: Bool { !subtracting([.exif, .position]).isEmpty }
}
