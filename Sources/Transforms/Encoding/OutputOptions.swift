/// The format a result is encoded in, and how.
///
/// Built by its initialiser only, which leaves out whatever the format has no use for: equal values are equal encodings.
public struct OutputOptions: Hashable, Sendable {
    /// Nil = the source's own format where browsers show it, else PNG with alpha or JPEG without.
    public let format: OutputFormat?
    /// 1…100; nil = the format's default.
    public let quality: Int?
    public let lossless: Bool
    public let interlaced: Bool

    public init(
        format: OutputFormat? = nil, quality: Int? = nil, lossless: Bool = false, interlaced: Bool = false
    ) {
        let lossless = lossless && (format?.hasLosslessMode ?? true)
        let usable = !lossless && (format?.isLossy ?? true) && quality != format?.defaultQuality
        self.format = format
        self.lossless = lossless
        self.quality = usable ? quality : nil
        self.interlaced = interlaced && (format?.hasInterlacing ?? true)
    }

    /// The text that variant keys use.
    public var key: String {
        let name = format?.rawValue ?? "natural"
        return "\(name)(\(quality.map(String.init) ?? "-"),\(lossless ? "ll" : "-"),\(interlaced ? "il" : "-"))"
    }

    /// The same options for one format, once the source has decided.
    func resolved(for format: OutputFormat) -> OutputOptions {
        OutputOptions(format: format, quality: quality, lossless: lossless, interlaced: interlaced)
    }
}
