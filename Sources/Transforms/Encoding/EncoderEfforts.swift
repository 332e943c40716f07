import DarkroomRequests

/// How much time encoders spend on smaller files, format by format. Defaults were chosen by measurement
/// (docs/quality.md), with the codecs of Debian 12 on photographs of 200 and 800 pixels.
public struct EncoderEfforts: Hashable, Codable, Sendable {
    /// Lossy and lossless WebP, 0…6. Default: 4.
    public var webp: Int
    /// AVIF, 0…9. Default: 3.
    public var avif: Int
    /// JPEG XL, 3…9. Default: 4.
    public var jxl: Int
    /// The compression level of PNG, 1…9. Default: 6.
    public var png: Int

    /// Efforts, clamped to their ranges.
    public init(webp: Int = 4, avif: Int = 3, jxl: Int = 4, png: Int = 6) {
        self.webp = min(max(webp, Self.webpRange.lowerBound), Self.webpRange.upperBound)
        self.avif = min(max(avif, Self.avifRange.lowerBound), Self.avifRange.upperBound)
        self.jxl = min(max(jxl, Self.jxlRange.lowerBound), Self.jxlRange.upperBound)
        self.png = min(max(png, Self.pngRange.lowerBound), Self.pngRange.upperBound)
    }

    /// The effort of a format's encoder; nil for a format without efforts.
    subscript(format: OutputFormat) -> Int? { format.row.efforts.map { self[keyPath: $0.value] } }

    /// The same efforts, except this effort for one format; nil = the format keeps its effort.
    func with(_ effort: Int?, for format: OutputFormat) -> EncoderEfforts {
        var efforts = self
        if let effort, let scale = format.row.efforts {
            efforts[keyPath: scale.value] = min(max(effort, scale.range.lowerBound), scale.range.upperBound)
        }
        return efforts
    }

    /// These efforts, then the same with each lower effort for one format, in descending order.
    func descending(for format: OutputFormat) -> [EncoderEfforts] {
        guard let effort = self[format], let least = format.row.efforts?.range.lowerBound else { return [self] }
        return stride(from: effort, through: least, by: -1).map { with($0, for: format) }
    }

    package static let webpRange = 0...6
    package static let avifRange = 0...9
    package static let jxlRange = 3...9
    package static let pngRange = OutputOptions.compressionLevels

    /// The part of the encoders' epoch.
    var key: String { "\(webp),\(avif),\(jxl),\(png)" }
}
