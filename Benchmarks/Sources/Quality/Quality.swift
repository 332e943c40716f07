import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore

/// Encodes every JPEG of a folder at the fixed default quality and with each target of `q=auto`, for
/// `Benchmarks/quality` to score.
///
/// `quality FOLDER RESULTS WIDTH COUNT`. Writes the results and a PNG of the same pixels into RESULTS. Prints a line
/// for each: image, format, setting, quality, bytes, and milliseconds of the encode, the least of five runs. The runs
/// of the settings alternate, so that whatever slows the machine down slows all of them.
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
            let image = try SizedImage(name: name, of: source, width: width, results: arguments[2])
            for format in [OutputFormat.jpeg, .webp, .avif, .jxl] where format.isAvailable {
                try image.encode(format)
            }
        }
    }
}

private struct SizedImage {
    static let runs = 5

    let name: String
    let results: String
    /// The sized pixels as PNG.
    let reference: ByteBuffer

    init(name: String, of source: ByteBuffer, width: Int, results: String) throws {
        self.name = "\(name)-\(width)"
        self.results = results
        var recipe = Recipe()
        recipe.box = Box(width: width, height: nil)
        let job = ImageJob(source: source, chain: TransformChain(recipe), output: OutputOptions(format: .png))
        reference = try InProcessImageProcessor().process(job) { false }.body
        try write(reference, "reference.png")
    }

    func encode(_ format: OutputFormat) throws {
        let fixed = ("fixed", OutputOptions(format: format))
        let settings = [fixed] + QualityTarget.allCases.map { ($0.rawValue, OutputOptions(format: format, target: $0)) }
        var least = settings.map { _ in Duration.seconds(1_000) }
        for run in 1...Self.runs {
            for (index, (setting, output)) in settings.enumerated() {
                let job = ImageJob(source: reference, chain: TransformChain(Recipe()), output: output)
                let result = try InProcessImageProcessor().process(job) { false }
                least[index] = min(least[index], result.stages?.encode ?? least[index])
                if run == Self.runs { try report(result, setting, least[index]) }
            }
        }
    }

    private func report(_ result: ProcessedImage, _ setting: String, _ time: Duration) throws {
        let format = result.format.rawValue
        try write(result.body, "\(setting).\(format)")
        let quality = (result.quality?.value ?? result.format.defaultQuality).map(String.init) ?? "-"
        let milliseconds = String(format: "%.3f", time / .milliseconds(1))
        print([name, format, setting, quality, "\(result.body.readableBytes)", milliseconds].joined(separator: "\t"))
    }

    private func write(_ body: ByteBuffer, _ suffix: String) throws {
        try Data(body.readableBytesView).write(to: URL(fileURLWithPath: "\(results)/\(name)-\(suffix)"))
    }
}
