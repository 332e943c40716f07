import DarkroomNetwork
import DarkroomWaiting
public import Foundation
import Synchronization

/// A list of images that a ``Prefetcher`` caches in advance. A job is safe to use from any task.
public final class PrefetchJob: Identifiable, Sendable {
    /// A random identifier, so that it cannot be guessed.
    public let id = UUID()
    /// When the job was started.
    public let createdAt: Date
    private let total: Int
    private let now: @Sendable () -> Date
    private let state: Mutex<State>

    /// The maximum number of listed failures; further failures are only counted.
    public static let maxFailures = 100

    private struct State {
        var done = 0
        var failures: [PrefetchFailure] = []
        var failed = 0
        var bytes = 0
        var isCancelled = false
        var endedAt: Date?
        /// Incremented by every change.
        var revision = 0
        var waiters: Set<Wait<Void>> = []
    }

    init(total: Int, now: @escaping @Sendable () -> Date) {
        createdAt = now()
        self.total = total
        self.now = now
        state = Mutex(State(endedAt: total == 0 ? createdAt : nil))
    }

    /// The current progress.
    public var progress: PrefetchProgress { state.withLock { progress($0) } }

    /// The progress now and after each change, until the job ends or the task is canceled. A slow reader skips
    /// intermediate values.
    public var updates: PrefetchUpdates { PrefetchUpdates(job: self) }

    /// Returns the first progress after this revision; nil if there will be none, or after cancellation.
    package func progress(after revision: Int?) async -> (progress: PrefetchProgress, revision: Int)? {
        await waitForChange(since: revision)
        return state.withLock { state in
            state.revision == revision ? nil : (progress(state), state.revision)
        }
    }

    /// Records the outcome of an item.
    ///
    /// - Returns: false if the job had ended before.
    func record(_ outcome: Result<Int, PipelineError>, of item: PrefetchItem) -> Bool {
        change { state in
            switch outcome {
            case .success(let bytes):
                state.done += 1
                state.bytes += bytes
            case .failure(let error):
                state.failed += 1
                guard state.failures.count < Self.maxFailures else { break }
                state.failures.append(
                    PrefetchFailure(url: item.request.source.canonical, label: item.label, error: error))
            }
            if state.done + state.failed == total { state.endedAt = now() }
        }
    }

    /// Cancels the job, unless it has ended.
    func cancel() {
        _ = change { state in
            state.isCancelled = true
            state.endedAt = now()
        }
    }

    /// When the job ended; nil while it runs.
    var endedAt: Date? { state.withLock(\.endedAt) }

    /// The number of tasks that wait for a change.
    var waiterCount: Int { state.withLock(\.waiters.count) }

    private func progress(_ state: State) -> PrefetchProgress {
        PrefetchProgress(
            state: state.isCancelled ? .cancelled : state.endedAt == nil ? .running : .done, total: total,
            done: state.done, failed: state.failed, bytes: state.bytes, remaining: remaining(state),
            failures: state.failures)
    }

    private func remaining(_ state: State) -> Duration? {
        let finished = state.done + state.failed
        guard state.endedAt == nil, finished > 0 else { return nil }
        let seconds = max(0, now().timeIntervalSince(createdAt)) / Double(finished) * Double(total - finished)
        return .seconds(seconds)
    }

    /// Changes a running job and resumes the tasks that wait for a change.
    ///
    /// - Returns: false if the job has ended.
    private func change(_ body: (inout State) -> Void) -> Bool {
        let waiters = state.withLock { state -> Set<Wait<Void>>? in
            guard state.endedAt == nil else { return nil }
            body(&state)
            state.revision += 1
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters ?? [] { waiter.end(()) }
        return waiters != nil
    }

    private func waitForChange(since revision: Int?) async {
        let wait = Wait<Void>()
        let waits = state.withLock { state in
            guard state.revision == revision, state.endedAt == nil else { return false }
            state.waiters.insert(wait)
            return true
        }
        guard waits else { return }
        await wait.answer { [self] in
            if state.withLock({ $0.waiters.remove(wait) }) != nil { wait.end(()) }
        }
    }
}

/// The progress of a job as it changes; see ``PrefetchJob/updates``.
public struct PrefetchUpdates: AsyncSequence, Sendable {
    let job: PrefetchJob

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(job: job) }

    /// The position of one reader.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let job: PrefetchJob
        private var revision: Int?

        init(job: PrefetchJob) {
            self.job = job
        }

        /// Returns the next progress; nil after the last one, or if the task is canceled.
        public mutating func next() async -> PrefetchProgress? {
            guard let update = await job.progress(after: revision) else { return nil }
            revision = update.revision
            return update.progress
        }
    }
}
