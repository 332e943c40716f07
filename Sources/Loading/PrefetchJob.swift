import DarkroomNetwork
import DarkroomPipeline
import DarkroomRequests
import DarkroomWaiting
public import Foundation
import Synchronization

/// A list of images that a ``Prefetcher`` caches in advance. A job is safe to use from any task.
public final class PrefetchJob: Identifiable, Sendable {
    /// A random identifier, so that it cannot be guessed.
    public let id = UUID()
    /// When the job was started.
    public let createdAt: Date
    private let now: @Sendable () -> Date
    private let state: Mutex<State>

    /// The maximum number of listed failures; further failures are only counted.
    public static let maxFailures = 100

    private struct State {
        /// Without the remaining time.
        var progress: PrefetchProgress
        var endedAt: Date?
        /// Incremented by every change.
        var revision = 0
        var waiters: Set<Wait<Void>> = []
    }

    init(total: Int, now: @escaping @Sendable () -> Date) {
        createdAt = now()
        self.now = now
        let progress = PrefetchProgress(
            state: total == 0 ? .done : .running, total: total, done: 0, failed: 0, bytes: 0, failures: [])
        state = Mutex(State(progress: progress, endedAt: total == 0 ? createdAt : nil))
    }

    /// The current progress.
    public var progress: PrefetchProgress { state.withLock { progress($0) } }

    /// The progress now and after each change, until the job ends or the task is canceled. A slow reader skips
    /// intermediate values.
    public var updates: PrefetchUpdates { PrefetchUpdates(job: self) }

    /// Returns the first progress after this revision; nil if there will be none, or after cancellation.
    package func progress(after revision: Int?) async -> (progress: PrefetchProgress, revision: Int)? {
        let wait = Wait<Void>()
        let waits = state.withLock { state in
            guard state.revision == revision, state.endedAt == nil else { return false }
            state.waiters.insert(wait)
            return true
        }
        if waits {
            await wait.answer { [self] in
                if state.withLock({ $0.waiters.remove(wait) }) != nil { wait.end(()) }
            }
        }
        return state.withLock { state in
            state.revision == revision ? nil : (progress(state), state.revision)
        }
    }

    /// Records the outcome of an item.
    ///
    /// - Returns: false if the job had ended before.
    func record(_ outcome: Result<Int, PipelineError>, of item: PrefetchItem) -> Bool {
        change { progress in
            switch outcome {
            case .success(let bytes):
                progress.done += 1
                progress.bytes += bytes
            case .failure(let error):
                progress.failed += 1
                guard progress.failures.count < Self.maxFailures else { break }
                progress.failures.append(
                    PrefetchFailure(url: item.request.source.canonical, label: item.label, error: error))
            }
            if progress.finished == progress.total { progress.state = .done }
        }
    }

    /// Cancels the job, unless it has ended.
    func cancel() {
        _ = change { $0.state = .cancelled }
    }

    /// When the job ended; nil while it runs.
    var endedAt: Date? { state.withLock(\.endedAt) }

    /// The number of tasks that wait for a change.
    var waiterCount: Int { state.withLock(\.waiters.count) }

    private func progress(_ state: State) -> PrefetchProgress {
        var progress = state.progress
        guard progress.state == .running, progress.finished > 0 else { return progress }
        let secondsPerItem = max(0, now().timeIntervalSince(createdAt)) / Double(progress.finished)
        progress.remaining = .seconds(secondsPerItem * Double(progress.total - progress.finished))
        return progress
    }

    /// Changes a running job and resumes the tasks that wait for a change.
    ///
    /// - Returns: false if the job has ended.
    private func change(_ body: (inout PrefetchProgress) -> Void) -> Bool {
        let waiters = state.withLock { state -> Set<Wait<Void>>? in
            guard state.endedAt == nil else { return nil }
            body(&state.progress)
            if state.progress.state != .running { state.endedAt = now() }
            state.revision += 1
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters ?? [] { waiter.end(()) }
        return waiters != nil
    }
}

/// The progress of a job as it changes; see ``PrefetchJob/updates``. A copy is the position of one reader.
public struct PrefetchUpdates: AsyncSequence, AsyncIteratorProtocol, Sendable {
    let job: PrefetchJob
    var revision: Int?

    public func makeAsyncIterator() -> PrefetchUpdates { self }

    /// Returns the next progress; nil after the last one, or if the task is canceled.
    public mutating func next() async -> PrefetchProgress? {
        guard let update = await job.progress(after: revision) else { return nil }
        revision = update.revision
        return update.progress
    }
}

extension PrefetchProgress {
    /// The number of items that are cached or have failed.
    fileprivate var finished: Int { done + failed }
}
