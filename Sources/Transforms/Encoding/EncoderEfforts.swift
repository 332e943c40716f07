/// How much time encoders spend on smaller files, format by format. Defaults were chosen by measurement
/// (docs/quality.md).
public struct EncoderEfforts: Hashable, Codable, Sendable {
    /// Lossy and lossless WebP, 0…6. Default: 4.
    public var webp: Int
    /// AVIF, 0…9. Default: 2.
    public var avif: Int
    /// JPEG XL, 3…9. Default: 4.
    public var jxl: Int
    /// The compression level of PNG, 1…9. Default: 6.
    public var png: Int

    /// Efforts, clamped to their ranges.
    public init(webp: Int = 4, avif: Int = 2, jxl: Int = 4, png: Int = 6) {
        self.webp = min(max(webp, Self.webpRange.lowerBound), Self.webpRange.upperBound)
        self.avif = min(max(avif, Self.avifRange.lowerBound), Self.avifRange.upperBound)
        self.jxl = min(max(jxl, Self.jxlRange.lowerBound), Self.jxlRange.upperBound)
        self.png = min(max(png, Self.pngRange.lowerBound), Self.pngRange.upperBound)
    }

    /// The same efforts, with this one for PNG; nil = no other.
    func with(png level: Int?) -> EncoderEfforts {
        EncoderEfforts(webp: webp, avif: avif, jxl: jxl, png: level ?? png)
    }

    package static let webpRange = 0...6
    package static let avifRange = 0...9
    package static let jxlRange = 3...9
    package static let pngRange = 1...9

    /// The part of the encoders' epoch.
    var key: String { "\(webp),\(avif),\(jxl),\(png)" }

    /// The encoder's time relative to that with the default effort, as measured with the codecs of Debian 12 on
    /// photographs of 200 and 800 pixels. High levels of PNG take longer for drawings only.
    func relativeTime(of format: OutputFormat, lossless: Bool = false) -> Double {
        switch format {
        case .webp: (lossless ? [0.15, 0.6, 0.8, 1, 1, 1.5, 1.5] : [0.4, 0.5, 0.55, 1, 1, 1.1, 2.6])[webp]
        case .avif:
            (lossless
                ? [0.4, 0.85, 1, 1.8, 4.2, 4.5, 5.2, 8.5, 9.5, 43] : [0.25, 0.75, 1, 1.7, 8, 10, 20, 31, 42, 120])[
                    avif]
        case .jxl:
            (lossless ? [0.17, 1, 1.15, 1.25, 1.7, 3.7, 18] : [0.95, 1, 2, 2.5, 3, 20, 34])[
                jxl - Self.jxlRange.lowerBound]
        case .png: png > 6 ? 1.5 : 1
        case .jpeg, .gif, .tiff, .json, .blurHash, .thumbHash, .color, .lqip: 1
        }
    }
}
