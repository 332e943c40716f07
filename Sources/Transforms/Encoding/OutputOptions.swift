/// The format a result is encoded in, and how.
///
/// Built by its initialiser only, which leaves out whatever the format has no use for: equal values are equal encodings.
public struct OutputOptions: Hashable, Sendable {
    /// Nil = the source's own format where browsers show it, else PNG with alpha or JPEG without.
    public let format: OutputFormat?
    /// 1…100; nil = the format's default.
    public let quality: Int?
    /// Whether pixels survive unchanged, in a format that has such a mode.
    public let lossless: Bool
    /// Whether it is stored coarse to fine (progressive JPEG, interlaced PNG and GIF).
    public let interlaced: Bool
    /// What a document tells besides the header; only `json` has a use for it.
    public let details: ImageDetails

    /// The source's own format at its default quality, unless said otherwise.
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

    /// The text that variant keys use.
    public var key: String {
        let name = format?.rawValue ?? "natural"
        let details = details.isEmpty ? "" : ",\(details.rawValue)"
        return
            "\(name)(\(quality.map(String.init) ?? "-"),\(lossless ? "ll" : "-"),\(interlaced ? "il" : "-")\(details))"
    }

    /// Whether the source's header tells all that is wanted, so that nothing is decoded.
    var isHeaderOnly: Bool { format == .json && !details.needsPixels }

    /// The same options for one format, once the source has decided.
    func resolved(for format: OutputFormat) -> OutputOptions {
        OutputOptions(format: format, quality: quality, lossless: lossless, interlaced: interlaced)
    }
}
