public import DarkroomPipeline
public import DarkroomRequests
public import Foundation
import NIOCore
import Synchronization

/// Caches images before they are requested (SDWebImage's `SDWebImagePrefetcher`).
///
/// A job continues until it is done or canceled, whether or not its progress is observed. Its images have background
/// priority in the download and pixel queues; a request for one of them shares the work and raises its priority. A
/// prefetcher is safe to use from any task.
///
/// ```swift
/// let job = try prefetcher.start(requests)
/// for await progress in job.updates { show(progress.done, of: progress.total) }
/// ```
public final class Prefetcher: Sendable {
    /// The most items of a job.
    public static let maxItems = PrefetchItem.maxPerJob
    /// The maximum number of jobs, running or ended. Ended jobs are removed after an hour, or earlier if new jobs need
    /// their places.
    public static let maxJobs = 64

    typealias Load = @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse

    private struct State {
        /// Oldest first.
        var jobs: [PrefetchJob] = []
        /// The items that wait. Jobs take turns, so that a small job never waits for all items of a large job. The
        /// first job has its turn.
        var lines: [(job: PrefetchJob, items: ArraySlice<PrefetchItem>)] = []
        var running: [Int: (job: PrefetchJob, task: Task<Void, Never>)] = [:]
        var lastNumber = 0
        var doneItems = 0
        var failedItems = 0
        var isShutDown = false
    }

    private let concurrency: Int
    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>
    private let load: Load
    private let state = Mutex(State())

    /// Creates a prefetcher.
    ///
    /// - Parameter concurrency: the number of images in progress at once, over all jobs; at least 1. Default: 2.
    public convenience init(_ pipeline: ImagePipeline, concurrency: Int = 2) {
        self.init(concurrency: concurrency) { request throws(PipelineError) in
            try await pipeline.image(for: request)
        }
    }

    /// - Parameters:
    ///   - now: the wall clock, for the ages of jobs.
    ///   - clock: the clock of the delay after a refusal.
    init(
        concurrency: Int = 2, now: @escaping @Sendable () -> Date = { Date() },
        clock: any Clock<Duration> = ContinuousClock(), load: @escaping Load
    ) {
        self.concurrency = max(1, concurrency)
        self.now = now
        self.clock = clock
        self.load = load
    }

    /// Starts a job. Its items are processed in order, alternating with the items of other jobs.
    public func start(_ items: [PrefetchItem]) throws(PrefetchError) -> PrefetchJob {
        guard items.count <= Self.maxItems else { throw .tooManyItems }
        return try state.withLock { state throws(PrefetchError) in
            guard !state.isShutDown else { throw .shutDown }
            removeExpired(&state)
            guard makeRoom(&state) else { throw .tooManyJobs(retryAfterSeconds: shortestWait(state.jobs)) }
            let job = PrefetchJob(total: items.count, now: now)
            state.jobs.append(job)
            state.lines.append((job, items[...]))
            startItems(&state)
            return job
        }
    }

    /// Starts a job of items without labels.
    public func start(_ requests: [ImageRequest]) throws(PrefetchError) -> PrefetchJob {
        try start(requests.map { PrefetchItem($0) })
    }

    /// The jobs that are running or ended less than an hour ago, newest first.
    public var jobs: [PrefetchJob] {
        state.withLock { state in
            removeExpired(&state)
            return state.jobs.reversed()
        }
    }

    /// Returns the job with this identifier, unless it has been removed.
    public func job(_ id: UUID) -> PrefetchJob? { jobs.first { $0.id == id } }

    /// Cancels a job: work in progress is canceled unless a request shares it, and no further item is started. Cached
    /// images stay cached. A job that has ended is not affected.
    public func cancel(_ job: PrefetchJob) {
        job.cancel()
        let tasks = state.withLock { state in
            state.lines.removeAll { $0.job === job }
            return state.running.values.filter { $0.job === job }.map(\.task)
        }
        for task in tasks { task.cancel() }
    }

    /// Cancels all jobs and accepts no more.
    public func shutdown() {
        let jobs = state.withLock { state in
            state.isShutDown = true
            return state.jobs
        }
        for job in jobs { cancel(job) }
    }

    package var runningCount: Int { state.withLock { $0.jobs.count { $0.endedAt == nil } } }

    /// The number of items done and failed since the start.
    package var itemCounts: (done: Int, failed: Int) {
        state.withLock { ($0.doneItems, $0.failedItems) }
    }

    // MARK: Items

    /// Starts items up to the concurrency limit.
    private func startItems(_ state: inout State) {
        while state.running.count < concurrency, !state.lines.isEmpty {
            let (job, waiting) = state.lines.removeFirst()
            var items = waiting
            guard let item = items.popFirst() else { continue }
            state.lines.append((job, items))
            state.lastNumber += 1
            let number = state.lastNumber
            let task = Task { await process(item, of: job, number) }
            state.running[number] = (job, task)
        }
    }

    private func process(_ item: PrefetchItem, of job: PrefetchJob, _ number: Int) async {
        let outcome = await outcome(of: item.request)
        state.withLock { state in
            state.running[number] = nil
            if job.record(outcome, of: item) {
                if case .success = outcome { state.doneItems += 1 } else { state.failedItems += 1 }
            }
            startItems(&state)
        }
    }

    /// The size of the image in bytes, or the error. Overload is not a failure: background work waits and retries.
    private func outcome(of request: ImageRequest) async -> Result<Int, PipelineError> {
        var request = request
        request.priority = .background
        request.fallback = nil
        while true {
            do throws(PipelineError) {
                return .success(try await load(request).body.readableBytes)
            } catch {
                guard case .overloaded(let seconds) = error,
                    (try? await clock.sleep(for: .seconds(seconds))) != nil
                else { return .failure(error) }
            }
        }
    }

    // MARK: Jobs

    private static let retentionSeconds = 3_600.0
    /// The delay that is suggested if no running job has an estimate.
    private static let defaultWaitSeconds = 60

    private func removeExpired(_ state: inout State) {
        let oldest = now() - Self.retentionSeconds
        state.jobs.removeAll { $0.endedAt.map { $0 <= oldest } ?? false }
    }

    /// Removes the job that ended first if there are too many.
    ///
    /// - Returns: false if all jobs are running.
    private func makeRoom(_ state: inout State) -> Bool {
        guard state.jobs.count >= Self.maxJobs else { return true }
        let ended = state.jobs.compactMap { job in job.endedAt.map { (job: job, at: $0) } }
        guard let first = ended.min(by: { $0.at < $1.at }) else { return false }
        state.jobs.removeAll { $0 === first.job }
        return true
    }

    private func shortestWait(_ jobs: [PrefetchJob]) -> Int {
        let seconds = jobs.compactMap { $0.progress.remaining.map { Int($0.components.seconds) } }.min()
        return min(max(seconds ?? Self.defaultWaitSeconds, 1), 3_600)
    }
}

/// The progress of a prefetch job.
public struct PrefetchProgress: Sendable {
    /// The state of a job.
    public enum State: String, Sendable {
        /// Some items are not finished.
        case running
        /// Every item is cached or has failed.
        case done
        /// The job was canceled before that.
        case cancelled
    }

    /// What the job is doing.
    public var state: State
    /// The number of items.
    public var total: Int
    /// The number of items that are cached, by the job or before it.
    public var done: Int
    /// The number of items that failed.
    public var failed: Int
    /// The size in bytes of the images that are cached.
    public var bytes: Int
    /// The estimated time until the job is done; nil before the first item is finished, and after the end.
    public var remaining: Duration?
    /// The first ``PrefetchJob/maxFailures`` failures, in the order in which they occurred.
    public var failures: [PrefetchFailure]
}

/// The failure of one item of a job.
public struct PrefetchFailure: Sendable {
    /// The canonical address of the source.
    public var url: String
    /// The label of the item.
    public var label: String
    /// Why the item failed.
    public var error: PipelineError
}

/// Why a job is not accepted.
public enum PrefetchError: Error, Hashable, Sendable {
    /// The job has more than ``Prefetcher/maxItems`` items.
    case tooManyItems
    /// ``Prefetcher/maxJobs`` jobs are running; a job may end after the delay.
    case tooManyJobs(retryAfterSeconds: Int)
    case shutDown
}
