import DarkroomNetwork
import DarkroomOrigin
public import Foundation
import Synchronization

/// Pictures that are being cached before anybody asks for them. Safe to use from any task.
public final class PrefetchJob: Identifiable, Sendable {
    /// Random, so that knowing one tells nothing of another.
    public let id = UUID()
    /// When it was given to the prefetcher.
    public let createdAt: Date
    private let total: Int
    private let now: @Sendable () -> Date
    private let state: Mutex<State>

    /// Failures that are told one by one; the rest are only counted.
    public static let maxFailures = 100

    private struct State {
        var done = 0
        var failures: [PrefetchFailure] = []
        var failed = 0
        var bytes = 0
        var isCancelled = false
        var endedAt: Date?
        /// Another one for every change.
        var revision = 0
        var watchers: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastWatcher = 0
    }

    init(total: Int, now: @escaping @Sendable () -> Date) {
        createdAt = now()
        self.total = total
        self.now = now
        state = Mutex(State(endedAt: total == 0 ? createdAt : nil))
    }

    /// How far it is now.
    public var progress: PrefetchProgress { state.withLock { progress($0) } }

    /// How far it is, now and after each change, to the end of the job or until the task is cancelled. Who reads slowly gets fewer of
    /// them, always the latest: nothing is kept for anybody.
    public var updates: PrefetchUpdates { PrefetchUpdates(job: self) }

    /// The first progress that is another than that of `revision`. Nil when there will be none, or the task is cancelled before.
    package func progress(after revision: Int?) async -> (progress: PrefetchProgress, revision: Int)? {
        await waitForChange(since: revision)
        return state.withLock { state in
            state.revision == revision ? nil : (progress(state), state.revision)
        }
    }

    /// Counts what became of one picture; false when the job had ended before.
    func note(_ outcome: Result<Int, PipelineError>, of picture: PrefetchItem) -> Bool {
        change { state in
            switch outcome {
            case .success(let bytes):
                state.done += 1
                state.bytes += bytes
            case .failure(let error):
                state.failed += 1
                guard state.failures.count < Self.maxFailures else { break }
                state.failures.append(
                    PrefetchFailure(url: picture.request.source.canonical, label: picture.label, error: error))
            }
            if state.done + state.failed == total { state.endedAt = now() }
        }
    }

    /// Ends it, unless it has ended.
    func cancel() {
        _ = change { state in
            state.isCancelled = true
            state.endedAt = now()
        }
    }

    /// Nil while it runs.
    var endedAt: Date? { state.withLock(\.endedAt) }

    /// How many wait for a change.
    var watcherCount: Int { state.withLock(\.watchers.count) }

    private func progress(_ state: State) -> PrefetchProgress {
        PrefetchProgress(
            state: state.isCancelled ? .cancelled : state.endedAt == nil ? .running : .done, total: total,
            done: state.done, failed: state.failed, bytes: state.bytes, remaining: remaining(state),
            failures: state.failures)
    }

    private func remaining(_ state: State) -> Duration? {
        let settled = state.done + state.failed
        guard state.endedAt == nil, settled > 0 else { return nil }
        let seconds = max(0, now().timeIntervalSince(createdAt)) / Double(settled) * Double(total - settled)
        return .seconds(seconds)
    }

    /// Changes a job that runs, and wakes whoever waits for that.
    private func change(_ body: (inout State) -> Void) -> Bool {
        let watchers = state.withLock { state -> [CheckedContinuation<Void, Never>]? in
            guard state.endedAt == nil else { return nil }
            body(&state)
            state.revision += 1
            defer { state.watchers = [:] }
            return Array(state.watchers.values)
        }
        for watcher in watchers ?? [] { watcher.resume() }
        return watchers != nil
    }

    private func waitForChange(since revision: Int?) async {
        let number = state.withLock { state in
            state.lastWatcher += 1
            return state.lastWatcher
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mayGo = state.withLock { state in
                    // The handler below takes this lock too: a cancellation is seen either here or there.
                    guard state.revision == revision, state.endedAt == nil, !Task.isCancelled else { return true }
                    state.watchers[number] = continuation
                    return false
                }
                if mayGo { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.watchers.removeValue(forKey: number) }?.resume()
        }
    }
}

/// A job's progress as it changes; see ``PrefetchJob/updates``.
public struct PrefetchUpdates: AsyncSequence, Sendable {
    let job: PrefetchJob

    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(job: job) }

    /// Where one reader is.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let job: PrefetchJob
        private var revision: Int?

        init(job: PrefetchJob) {
            self.job = job
        }

        /// Nil after the job's last progress, or when the task is cancelled.
        public mutating func next() async -> PrefetchProgress? {
            guard let update = await job.progress(after: revision) else { return nil }
            revision = update.revision
            return update.progress
        }
    }
}
