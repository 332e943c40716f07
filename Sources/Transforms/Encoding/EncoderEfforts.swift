/// How much time encoders spend on smaller files, format by format. Defaults were chosen by measurement
/// (docs/quality.md), with the codecs of Debian 12 on photographs of 200 and 800 pixels.
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

    /// The same efforts, except this effort for PNG; nil = PNG keeps its effort.
    func with(png level: Int?) -> EncoderEfforts {
        EncoderEfforts(webp: webp, avif: avif, jxl: jxl, png: level ?? png)
    }

    package static let webpRange = 0...6
    package static let avifRange = 0...9
    package static let jxlRange = 3...9
    package static let pngRange = 1...9

    /// The part of the encoders' epoch.
    var key: String { "\(webp),\(avif),\(jxl),\(png)" }
}
