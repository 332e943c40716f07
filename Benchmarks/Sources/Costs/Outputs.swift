import DarkroomRequests
import DarkroomTransforms

/// The output formats with the options that change what encoding takes. Names are as in queries.
enum Outputs {
    struct Output {
        var name: String
        var options: OutputOptions
        var efforts = EncoderEfforts()
    }

    static func named(_ name: String) -> Output? { all.first { $0.name == name } }

    static let all = formats + options + targets + limited + efforts + texts

    private static let formats = (lossy + [.png, .gif, .tiff]).map {
        Output(name: "output=\($0.rawValue)", options: OutputOptions(format: $0))
    }

    private static let lossy: [OutputFormat] = [.jpeg, .webp, .avif, .jxl]

    private static let options = [
        Output(name: "output=jpg&q=95", options: OutputOptions(format: .jpeg, quality: 95)),
        Output(name: "output=jpg&il", options: OutputOptions(format: .jpeg, interlaced: true)),
        Output(name: "output=png&palette", options: OutputOptions(format: .png, palette: true)),
        Output(name: "output=png&il", options: OutputOptions(format: .png, interlaced: true)),
        Output(name: "output=png&af", options: OutputOptions(format: .png, filtersRows: true)),
        Output(name: "output=png&l=9&af", options: OutputOptions(format: .png, compression: 9, filtersRows: true)),
        Output(name: "output=png&palette&il", options: OutputOptions(format: .png, interlaced: true, palette: true)),
        Output(name: "output=gif&il", options: OutputOptions(format: .gif, interlaced: true)),
        Output(name: "output=webp&q=95", options: OutputOptions(format: .webp, quality: 95)),
        Output(name: "output=webp&nl", options: OutputOptions(format: .webp, nearLossless: true)),
        Output(name: "output=avif&q=95", options: OutputOptions(format: .avif, quality: 95)),
        Output(name: "output=avif&q=30", options: OutputOptions(format: .avif, quality: 30)),
        Output(name: "output=jxl&q=95", options: OutputOptions(format: .jxl, quality: 95)),
    ]

    private static let targets = lossy.map {
        Output(name: "output=\($0.rawValue)&q=auto", options: OutputOptions(format: $0, target: .medium))
    }

    /// A limit that takes many encodes: far below what the default quality gives for a photograph.
    private static let limited =
        lossy.map {
            Output(
                name: "output=\($0.rawValue)&max_bytes=20000", options: OutputOptions(format: $0, maxBytes: 20_000))
        } + [
            Output(
                name: "output=webp&q=auto&max_bytes=20000",
                options: OutputOptions(format: .webp, target: .medium, maxBytes: 20_000))
        ]

    private static let efforts: [Output] =
        EncoderEfforts.webpRange.flatMap { withEffort(.webp, "webp-effort=\($0)", EncoderEfforts(webp: $0)) }
        + EncoderEfforts.avifRange.flatMap { withEffort(.avif, "avif-effort=\($0)", EncoderEfforts(avif: $0)) }
        + EncoderEfforts.jxlRange.flatMap { withEffort(.jxl, "jxl-effort=\($0)", EncoderEfforts(jxl: $0)) }
        + EncoderEfforts.pngRange.map { effort in
            Output(name: "output=png&l=\(effort)", options: OutputOptions(format: .png, compression: effort))
        }

    /// With and without loss.
    private static func withEffort(_ format: OutputFormat, _ setting: String, _ efforts: EncoderEfforts) -> [Output] {
        let name = "output=\(format.rawValue)"
        return [
            Output(name: "\(name), \(setting)", options: OutputOptions(format: format), efforts: efforts),
            Output(
                name: "\(name)&ll, \(setting)", options: OutputOptions(format: format, lossless: true),
                efforts: efforts),
        ]
    }

    private static let texts =
        [OutputFormat.blurHash, .thumbHash, .color, .lqip].map {
            Output(name: "output=\($0.rawValue)", options: OutputOptions(format: $0))
        } + [
            Output(name: "output=json", options: OutputOptions(format: .json)),
            Output(name: "output=json&fields=all", options: OutputOptions(format: .json, details: .all)),
        ]
}
