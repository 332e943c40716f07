import DarkroomRequests
import DarkroomTransforms
import Foundation
import NIOCore
import Synchronization

/// Transforms files, each on one of several threads.
final class BatchRun: Sendable {
    private let queries: FileQueries
    private let overwrites: Bool
    private let stop: StopFlag
    private let state = Mutex(State())

    private struct State {
        var found = 0
        /// Nil until all are found.
        var inputs: InputFiles?
        var next = 0
        var tally = FileTally()

        /// The number of files, including unreadable ones.
        var total: Int { inputs.map { $0.files.count + $0.failures.count } ?? found }
    }

    init(_ queries: FileQueries, overwrites: Bool, stop: StopFlag) {
        self.queries = queries
        self.overwrites = overwrites
        self.stop = stop
    }

    var tally: FileTally { state.withLock(\.tally) }
    /// The number of files that are not finished.
    var left: Int { state.withLock { $0.total - $0.tally.finished } }

    var progress: WorkProgress {
        state.withLock { state in
            guard state.inputs != nil else { return WorkProgress(finished: state.found) }
            return WorkProgress(total: state.total, finished: state.tally.finished, failed: state.tally.failed)
        }
    }

    /// Finds the files. Nothing is written.
    ///
    /// - Returns: a sentence for each result that would take the place of another file.
    func find(_ paths: [String], into folder: String) -> [String] {
        let inputs = InputFiles(paths, into: folder, names: ResultName(format: queries.format)) { count in
            state.withLock { $0.found = count }
            return !stop.isSet
        }
        state.withLock { $0.inputs = inputs }
        return inputs.conflicts
    }

    /// Transforms the files that were found, as many at once as there are threads, and returns once all are finished,
    /// or the run is stopped. Failures are reported from any thread.
    func transform(
        on threads: Int, by processing: any ImageProcessing, report: @escaping @Sendable (_ sentence: String) -> Void
    ) {
        for sentence in state.withLock({ $0.inputs?.failures ?? [] }) { finish(.failed(sentence: sentence), report) }
        let group = DispatchGroup()
        for _ in 0..<threads {
            group.enter()
            Thread {
                while !self.stop.isSet, let file = self.nextFile() {
                    guard let outcome = self.outcome(of: file, by: processing) else { continue }
                    self.finish(outcome, report)
                }
                group.leave()
            }.start()
        }
        group.wait()
    }

    private func nextFile() -> InputFile? {
        state.withLock { state in
            guard let files = state.inputs?.files, state.next < files.count else { return nil }
            defer { state.next += 1 }
            return files[state.next]
        }
    }

    private func finish(_ outcome: FileOutcome, _ report: (String) -> Void) {
        state.withLock { $0.tally.count(outcome) }
        if case .failed(let sentence) = outcome { report(sentence) }
    }

    /// What became of a file; nil if the run was stopped meanwhile.
    private func outcome(of file: InputFile, by processing: any ImageProcessing) -> FileOutcome? {
        if !overwrites, (try? FileStatus(of: file.target, followingLink: false)) != nil { return .exists }
        let format = ResultName(format: queries.format).format(for: file.name)
        guard let query = queries.byFormat[format] else {
            return .failed(sentence: "\(file.source): This build writes no \(format.rawValue).")
        }
        do {
            let source = try SourceFile.read(file.source)
            let image = try processing.process(query.job(source)) { [stop] in stop.isSet }
            try ResultFile.write(image.body, to: file.target, replaces: overwrites)
            return .written(sourceBytes: source.readableBytes, bytes: image.body.readableBytes)
        } catch SourceFile.Failure.notAnImage where !file.isNamed {
            return .notAnImage
        } catch ImageProcessingError.unsupported where !file.isNamed {
            // A bitmap may contain an unsupported kind of image.
            return .notAnImage
        } catch ImageProcessingError.interrupted where stop.isSet {
            return nil
        } catch ResultFile.Failure.exists {
            return .exists
        } catch {
            // A failure of the volume stops the run: no other result could be written.
            if case ResultFile.Failure.unwritable(let error) = error, error.isOfVolume {
                stop.set(.failure(error.sentence))
            }
            return .failed(sentence: TransformFiles.sentence(error, file.source, file.target))
        }
    }
}

/// What became of a file.
enum FileOutcome: Sendable {
    case written(sourceBytes: Int, bytes: Int)
    case failed(sentence: String)
    /// Its result exists.
    case exists
    case notAnImage
}

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
