import DarkroomTransforms
import Foundation
import NIOCore

/// Encodes every JPEG of a folder at the fixed default quality and with each target of `q=auto`, for
/// `Benchmarks/quality` to score.
///
/// `quality FOLDER RESULTS WIDTH COUNT`. Writes the results and a PNG of the same pixels into RESULTS. Prints a line
/// for each: image, format, setting, quality, bytes, and milliseconds of the encode, the least of three runs.
@main
enum Quality {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 5, let width = Int(arguments[3]), let count = Int(arguments[4]) else {
            FileHandle.standardError.write(Data("usage: quality FOLDER RESULTS WIDTH COUNT\n".utf8))
            exit(64)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: arguments[1])
            .filter { $0.hasSuffix(".jpg") && $0 != "large.jpg" }.sorted()
        let step = max(names.count / max(count, 1), 1)
        for (index, name) in names.enumerated() where index % step == 0 && index / step < count {
            let source = ByteBuffer(bytes: try Data(contentsOf: URL(fileURLWithPath: "\(arguments[1])/\(name)")))
            let image = SizedImage(name: name, source: source, width: width, results: arguments[2])
            try image.encode(OutputOptions(format: .png), "reference", runs: 1)
            for format in [OutputFormat.jpeg, .webp, .avif, .jxl] where format.isAvailable {
                try image.encode(OutputOptions(format: format), "fixed")
                for target in QualityTarget.allCases {
                    try image.encode(OutputOptions(format: format, target: target), target.rawValue)
                }
            }
        }
    }
}

private struct SizedImage {
    let name: String
    let source: ByteBuffer
    let width: Int
    let results: String

    func encode(_ output: OutputOptions, _ setting: String, runs: Int = 3) throws {
        var recipe = Recipe()
        recipe.box = Box(width: width, height: nil)
        let job = ImageJob(source: source, chain: TransformChain(recipe), output: output)
        var least = Duration.seconds(1_000)
        for run in 1...runs {
            let result = try InProcessImageProcessor().process(job) { false }
            least = min(least, result.stages?.encode ?? least)
            guard run == runs else { continue }
            let format = result.format.rawValue
            try Data(result.body.readableBytesView).write(
                to: URL(fileURLWithPath: "\(results)/\(name)-\(width)-\(setting).\(format)"))
            let quality = (result.quality?.value ?? result.format.defaultQuality).map(String.init) ?? "-"
            let cells = [
                "\(name)-\(width)", format, setting, quality, "\(result.body.readableBytes)",
                String(format: "%.3f", least / .milliseconds(1)),
            ]
            print(cells.joined(separator: "\t"))
        }
    }
}
