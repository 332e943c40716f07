import DarkroomTransforms
import Foundation
import NIOCore
import Synchronization

/// Transforms the files of an ``InputWalk``, each on one of several threads.
final class BatchRun: Sendable {
    private let inputs: Inputs
    private let folder: String
    private let queries: FileQueries
    private let overwrites: Bool
    private let stop: StopFlag
    private let state = Mutex(State())

    private struct State {
        var total = 0
        var isCounted = false
        var tally = FileTally()
    }

    /// - Parameter folder: the folder of the results, which may be missing.
    init(_ inputs: Inputs, into folder: String, _ queries: FileQueries, overwrites: Bool, stop: StopFlag) {
        self.inputs = inputs
        self.folder = folder
        self.queries = queries
        self.overwrites = overwrites
        self.stop = stop
    }

    var tally: FileTally { state.withLock(\.tally) }
    /// The number of files; it grows until ``findConflicts()`` has returned.
    var total: Int { state.withLock(\.total) }

    var progress: WorkProgress {
        state.withLock { state in
            guard state.isCounted else { return WorkProgress(finished: state.total) }
            return WorkProgress(total: state.total, finished: state.tally.finished, failed: state.tally.failed)
        }
    }

    /// Counts the files and finds inputs whose results would take the place of other files. Nothing is written.
    func findConflicts() -> (first: [InputConflict], count: Int) {
        var walk = walk
        var first: [InputConflict] = []
        var count = 0
        while !stop.isSet, let entry = walk.next() {
            if case .conflict(let conflict) = entry {
                count += 1
                if first.count < Self.maxListedConflicts { first.append(conflict) }
            }
            state.withLock { $0.total += 1 }
        }
        state.withLock { $0.isCounted = true }
        return (first, count)
    }

    /// Transforms the files, as many at once as there are threads, and returns once all are done with, or the run is
    /// stopped. Each file is reported from any thread.
    func transform(
        on threads: Int, by processing: any ImageProcessing, report: @escaping @Sendable (FileReport) -> Void
    ) {
        let entries = Mutex(walk)
        let group = DispatchGroup()
        for _ in 0..<threads {
            group.enter()
            Thread {
                while !self.stop.isSet, let entry = entries.withLock({ $0.next() }) {
                    guard let result = self.report(of: entry, by: processing) else { continue }
                    self.state.withLock { $0.tally.count(result.outcome) }
                    report(result)
                }
                group.leave()
            }.start()
        }
        group.wait()
    }

    private static let maxListedConflicts = 3

    private var walk: InputWalk { InputWalk(inputs, into: folder, names: ResultName(format: queries.format)) }

    /// What became of an entry; nil if the run was stopped meanwhile.
    private func report(of entry: InputEntry, by processing: any ImageProcessing) -> FileReport? {
        switch entry {
        case .failed(let path, let sentence): FileReport(source: path, outcome: .failed(sentence: sentence))
        case .skipped(let path, let reason): FileReport(source: path, outcome: .skipped(reason))
        // The files have changed since they were counted.
        case .conflict(let conflict): FileReport(source: folder, outcome: .failed(sentence: conflict.sentence))
        case .file(let file): outcome(of: file, by: processing).map { FileReport(source: file.source, outcome: $0) }
        }
    }

    private func outcome(of file: InputFile, by processing: any ImageProcessing) -> FileReport.Outcome? {
        if !overwrites, (try? FileStatus(of: file.target, followingLink: false)) != nil { return .skipped(.exists) }
        let format = ResultName(format: queries.format).format(for: file.name)
        guard let query = queries.byFormat[format] else {
            return .failed(sentence: "\(file.source): This build writes no \(format.rawValue).")
        }
        let start = ContinuousClock.now
        let source: ByteBuffer
        do throws(SourceFile.Failure) { source = try SourceFile.read(file.source) } catch {
            let isSkipped = error == .notAnImage && !file.isNamed
            return isSkipped ? .skipped(.notAnImage) : .failed(sentence: error.sentence(file.source))
        }
        let image: ProcessedImage
        do throws(ImageProcessingError) {
            image = try processing.process(query.job(source)) { [stop] in stop.isSet }
        } catch {
            guard error != .interrupted || !stop.isSet else { return nil }
            // A bitmap may contain an unsupported kind of image.
            guard error != .unsupported || file.isNamed else { return .skipped(.notAnImage) }
            return .failed(sentence: "\(file.source): \(error.sentence)")
        }
        if let failure = write(image.body, to: file.target) { return failure }
        let result = FileResult(
            format: image.format, size: image.size, sourceBytes: source.readableBytes,
            bytes: image.body.readableBytes, duration: .now - start)
        return .written(to: file.target, result)
    }

    /// Writes a result; nil if that succeeded. A failure of the volume stops the run: no other result could be written.
    private func write(_ bytes: ByteBuffer, to target: String) -> FileReport.Outcome? {
        do throws(ResultFile.Failure) {
            try ResultFile.write(bytes, to: target, replaces: overwrites)
            return nil
        } catch {
            switch error {
            case .exists: return .skipped(.exists)
            case .unwritable(let error):
                if error.isOfVolume { stop.set(.failure(error.sentence)) }
                return .failed(sentence: error.sentence)
            }
        }
    }
}
