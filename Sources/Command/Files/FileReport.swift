import DarkroomTransforms
import Foundation

/// The outcome for one file.
struct FileReport: Sendable {
    enum Outcome: Sendable {
        case written(to: String, FileResult)
        case failed(sentence: String)
        case skipped(SkipReason)
    }

    let source: String
    let outcome: Outcome
}

/// The result written for one file.
struct FileResult: Equatable, Sendable {
    var format: OutputFormat
    var size: PixelSize
    var sourceBytes: Int
    var bytes: Int
    var duration: Duration
}

/// The counts of a run.
struct FileTally: Equatable, Sendable {
    private(set) var written = 0
    private(set) var failed = 0
    private(set) var skipped: [SkipReason: Int] = [:]
    private(set) var sourceBytes = 0
    private(set) var bytes = 0

    /// The finished files, whatever their outcome.
    var finished: Int { written + failed + skippedCount }
    var skippedCount: Int { skipped.values.reduce(0, +) }

    mutating func count(_ outcome: FileReport.Outcome) {
        switch outcome {
        case .written(_, let result):
            written += 1
            sourceBytes += result.sourceBytes
            bytes += result.bytes
        case .failed: failed += 1
        case .skipped(let reason): skipped[reason, default: 0] += 1
        }
    }

    /// The summary for people: "Wrote 2 images to out in 1.2 s (5.1 MB to 312 kB). 1 skipped: 1 exists already …".
    func summary(_ folder: String, _ duration: Duration) -> String {
        let sizes = written > 0 ? " (\(ByteText(sourceBytes)) to \(ByteText(bytes)))" : ""
        var sentences = [
            "Wrote \(Self.counted(written, "image")) to \(folder) in \(DurationText.seconds(duration))\(sizes)."
        ]
        if skippedCount > 0 {
            let reasons = SkipReason.allCases.compactMap { reason in skipped[reason].map { reason.text($0) } }
            sentences.append("\(skippedCount) skipped: \(reasons.joined(separator: ", ")).")
        }
        if failed > 0 { sentences.append("\(failed) failed.") }
        return sentences.joined(separator: " ")
    }

    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}

extension SkipReason {
    fileprivate func text(_ count: Int) -> String {
        switch self {
        case .exists: "\(count) \(count == 1 ? "exists" : "exist") already (--overwrite replaces)"
        case .notAnImage: "\(count) not an image"
        case .linkToFolder: "\(FileTally.counted(count, "link")) to \(count == 1 ? "a folder" : "folders")"
        }
    }
}

/// The lines of `--json`: one for each file, and a summary.
enum JSONLine {
    static func text(_ report: FileReport) -> String {
        var line = FileLine(file: report.source)
        switch report.outcome {
        case .written(let target, let result):
            line.status = "written"
            line.output = target
            line.format = result.format.rawValue
            (line.width, line.height) = (result.size.width, result.size.height)
            (line.sourceBytes, line.bytes) = (result.sourceBytes, result.bytes)
            line.seconds = DurationText.rounded(result.duration)
        case .failed(let sentence):
            line.status = "failed"
            line.error = sentence
        case .skipped(let reason):
            line.status = "skipped"
            line.reason = reason.rawValue
        }
        return encoded(line)
    }

    /// The counts of the files that were found; `stop` is why the run ended early.
    static func summary(_ tally: FileTally, total: Int, _ duration: Duration, stop: StopReason?) -> String {
        encoded(
            [
                "summary": FileSummary(
                    total: total, written: tally.written, skipped: tally.skippedCount, failed: tally.failed,
                    sourceBytes: tally.sourceBytes, bytes: tally.bytes, seconds: DurationText.rounded(duration),
                    stopped: stop?.sentence)
            ])
    }

    /// A value as one line of JSON, with names in snake case.
    static func encoded(_ value: some Encodable) -> String {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }

    private struct FileLine: Encodable {
        let file: String
        var status = ""
        var output: String?
        var format: String?
        var width: Int?
        var height: Int?
        var sourceBytes: Int?
        var bytes: Int?
        var seconds: Double?
        var reason: String?
        var error: String?
    }

    private struct FileSummary: Encodable {
        let total: Int
        let written: Int
        let skipped: Int
        let failed: Int
        let sourceBytes: Int
        let bytes: Int
        let seconds: Double
        let stopped: String?
    }
}
