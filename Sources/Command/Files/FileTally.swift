/// What became of a file.
enum FileOutcome: Sendable {
    case written(sourceBytes: Int, bytes: Int)
    case failed(sentence: String)
    /// Its result exists.
    case exists
    case notAnImage
}

/// The counts of a run.
struct FileTally: Sendable {
    private(set) var written = 0
    private(set) var failed = 0
    private var (existing, notImages) = (0, 0)
    private var (sourceBytes, bytes) = (0, 0)

    /// The finished files, whatever their outcome.
    var finished: Int { written + failed + existing + notImages }

    mutating func count(_ outcome: FileOutcome) {
        switch outcome {
        case .written(let sourceBytes, let bytes):
            written += 1
            self.sourceBytes += sourceBytes
            self.bytes += bytes
        case .failed: failed += 1
        case .exists: existing += 1
        case .notAnImage: notImages += 1
        }
    }

    /// The summary for people: "Wrote 2 images to out in 1.2 s (5.1 MB to 312 kB). 1 skipped: 1 exists already …".
    func summary(_ folder: String, _ duration: Duration) -> String {
        let sizes = written > 0 ? " (\(ByteText(sourceBytes)) to \(ByteText(bytes)))" : ""
        let text = "Wrote \(Self.counted(written, "image")) to \(folder) in \(DurationText.seconds(duration))\(sizes)."
        let reasons = [
            existing > 0 ? "\(existing) \(existing == 1 ? "exists" : "exist") already (--overwrite replaces)" : nil,
            notImages > 0 ? "\(notImages) not an image" : nil,
        ].compactMap(\.self)
        let skipped = reasons.isEmpty ? "" : " \(existing + notImages) skipped: \(reasons.joined(separator: ", "))."
        return text + skipped + (failed > 0 ? " \(failed) failed." : "")
    }

    static func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }
}
