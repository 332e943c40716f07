public import Foundation
import NIOCore
import Synchronization

/// Caches pictures before anybody asks for them (SDWebImage's `SDWebImagePrefetcher`).
///
/// A job belongs to nobody: it goes on whoever stops watching it. Its pictures stand behind everything that somebody waits for, in the
/// queues for downloads and for pixels; who asks for one of them meanwhile shares the work and lends it their own priority. Safe to use from
/// any task.
///
/// ```swift
/// let job = try prefetcher.start(requests)
/// for await progress in job.updates { show(progress.done, of: progress.total) }
/// ```
public final class Prefetcher: Sendable {
    /// Pictures that one job may have.
    public static let maxItems = 10_000
    /// Jobs that are running or remembered. Those that have ended are forgotten after an hour, or earlier when there is need.
    public static let maxJobs = 64

    typealias Load = @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse

    private struct State {
        /// The oldest first.
        var jobs: [PrefetchJob] = []
        var rotation = PrefetchRotation()
        var underWay: [Int: (job: PrefetchJob, task: Task<Void, Never>)] = [:]
        var lastNumber = 0
        var donePictures = 0
        var failedPictures = 0
        var isShutDown = false
    }

    private let concurrency: Int
    private let now: @Sendable () -> Date
    private let clock: any Clock<Duration>
    private let load: Load
    private let state = Mutex(State())

    /// - Parameter concurrency: pictures that are worked on at a time, over all jobs; at least 1.
    public convenience init(_ pipeline: ImagePipeline, concurrency: Int = 2) {
        self.init(concurrency: concurrency) { request throws(PipelineError) in
            try await pipeline.image(for: request)
        }
    }

    /// - Parameters:
    ///   - now: the wall clock, for the ages of jobs.
    ///   - clock: waits while the server is busy.
    init(
        concurrency: Int = 2, now: @escaping @Sendable () -> Date = { Date() },
        clock: any Clock<Duration> = ContinuousClock(), load: @escaping Load
    ) {
        self.concurrency = max(1, concurrency)
        self.now = now
        self.clock = clock
        self.load = load
    }

    /// Begins a job. Its pictures are worked on in the order given, in turns with those of other jobs.
    public func start(_ pictures: [PrefetchItem]) throws(PrefetchError) -> PrefetchJob {
        guard pictures.count <= Self.maxItems else { throw .tooManyItems }
        return try state.withLock { state throws(PrefetchError) in
            guard !state.isShutDown else { throw .shutDown }
            forgetOld(&state)
            guard makeRoom(&state) else { throw .tooManyJobs(retryAfterSeconds: shortestWait(state.jobs)) }
            let job = PrefetchJob(total: pictures.count, now: now)
            state.jobs.append(job)
            state.rotation.append(pictures, of: job)
            workOn(&state)
            return job
        }
    }

    /// The same for pictures that need no labels.
    public func start(_ requests: [ImageRequest]) throws(PrefetchError) -> PrefetchJob {
        try start(requests.map { PrefetchItem($0) })
    }

    /// Those that are running or remembered, the newest first.
    public var jobs: [PrefetchJob] {
        state.withLock { state in
            forgetOld(&state)
            return state.jobs.reversed()
        }
    }

    /// The job of that name; nil where there is none, or none any more.
    public func job(_ id: UUID) -> PrefetchJob? { jobs.first { $0.id == id } }

    /// Ends a job: what it is working on is given up, unless somebody else waits for it, and the rest is not begun. What it has cached
    /// stays. No effect on a job that has ended.
    public func cancel(_ job: PrefetchJob) {
        job.cancel()
        let tasks = state.withLock { state in
            state.rotation.remove(job)
            return state.underWay.values.filter { $0.job === job }.map(\.task)
        }
        for task in tasks { task.cancel() }
    }

    /// Cancels every job and begins no more.
    public func shutdown() {
        let jobs = state.withLock { state in
            state.isShutDown = true
            return state.jobs
        }
        for job in jobs { cancel(job) }
    }

    /// Jobs that run now.
    package var runningCount: Int { state.withLock { $0.jobs.count { $0.endedAt == nil } } }

    /// Pictures that became ready, and that failed, since the beginning.
    package var itemCounts: (done: Int, failed: Int) {
        state.withLock { ($0.donePictures, $0.failedPictures) }
    }

    // MARK: Pictures

    /// Begins as many pictures as may be worked on.
    private func workOn(_ state: inout State) {
        while state.underWay.count < concurrency, let (job, picture) = state.rotation.next() {
            state.lastNumber += 1
            let number = state.lastNumber
            let task = Task { await work(on: picture, of: job, as: number) }
            state.underWay[number] = (job, task)
        }
    }

    private func work(on picture: PrefetchItem, of job: PrefetchJob, as number: Int) async {
        let outcome = await outcome(of: picture.request)
        state.withLock { state in
            state.underWay[number] = nil
            if job.note(outcome, of: picture) {
                if case .success = outcome { state.donePictures += 1 } else { state.failedPictures += 1 }
            }
            workOn(&state)
        }
    }

    /// The size of the picture. That the server is busy with others is no failure: background work waits.
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

    private static let secondsRemembered = 3_600.0
    /// Said where no running job knows its own remaining time.
    private static let usualWaitSeconds = 60

    private func forgetOld(_ state: inout State) {
        let oldest = now() - Self.secondsRemembered
        state.jobs.removeAll { $0.endedAt.map { $0 <= oldest } ?? false }
    }

    /// False when every job that there may be is running.
    private func makeRoom(_ state: inout State) -> Bool {
        guard state.jobs.count >= Self.maxJobs else { return true }
        let ended = state.jobs.compactMap { job in job.endedAt.map { (job: job, at: $0) } }
        guard let first = ended.min(by: { $0.at < $1.at }) else { return false }
        state.jobs.removeAll { $0 === first.job }
        return true
    }

    private func shortestWait(_ jobs: [PrefetchJob]) -> Int {
        let seconds = jobs.compactMap { $0.progress.remaining.map { Int($0.components.seconds) } }.min()
        return min(max(seconds ?? Self.usualWaitSeconds, 1), 3_600)
    }
}
