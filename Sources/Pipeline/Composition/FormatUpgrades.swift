import DarkroomCache
import DarkroomStore
import DarkroomWaiting
import Synchronization

/// Encodes variants in their preferred formats after requests were answered in quicker formats: one job for each
/// variant, few at a time.
///
/// Jobs have the lowest priority in the pixel queue and hold no client. A job that does not fit is dropped: a later
/// request starts it again.
final class FormatUpgrades: Sendable {
    /// The values that must be equal for requests to share a job.
    struct Key: Hashable, Sendable {
        let variant: EntryKey
        /// No request relies on a job that started before a purge.
        let epoch: PurgeEpoch
    }

    /// The end of a job. The raw values are metric labels.
    enum Outcome: String, CaseIterable, Sendable {
        case made
        /// The queue of jobs or of pixel work was full, the job waited too long for a thread, or its source was purged.
        case dropped
        /// The image could not be encoded in time, or was not stored.
        case failed
    }

    /// - Returns: whether the image is stored.
    typealias Work = @Sendable () async throws(PipelineError) -> Bool

    private struct Job {
        let key: Key
        /// The bytes of the original that the job holds.
        let bytes: Int
        let urgency: Urgency
        let work: Work
    }

    private struct State {
        /// Oldest first.
        var waiting: [Job] = []
        var running: [Key: Task<Void, Never>] = [:]
        /// The keys of waiting and running jobs.
        var pending: Set<Key> = []
        /// The variants that are not tried again until then.
        var resting: [Key: ContinuousClock.Instant] = [:]
        var heldBytes = 0
        var outcomes: [Outcome: Int] = [:]
        var interimAnswers = 0
        var isClosed = false
    }

    /// The most jobs that wait.
    static let capacity = 64
    /// The rest after a job was dropped, so that overload does not make each request try again.
    static let restAfterDrop = Duration.seconds(1)
    static let restAfterFailure = Duration.seconds(60)
    /// The maximum number of variants that rest. Beyond it, the variants with the least remaining rest may be tried
    /// again.
    static let maxResting = 1_024

    private let concurrency: Int
    private let maxHeldBytes: Int
    private let deadlines: DeadlineTimer
    private let isOverloaded: @Sendable () -> Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())
    /// Decides once for all requests that arrive together.
    let decisions = Coalescer<Key, Bool>()

    /// - Parameters:
    ///   - concurrency: the number of jobs that run at once, at least 1.
    ///   - maxHeldBytes: the most bytes of originals that jobs hold.
    ///   - deadlines: bounds the time of a job from its start, with its wait for a pixel thread.
    ///   - isOverloaded: whether no job is started at the moment.
    init(
        concurrency: Int, maxHeldBytes: Int, deadlines: DeadlineTimer,
        isOverloaded: @escaping @Sendable () -> Bool, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.concurrency = max(concurrency, 1)
        self.maxHeldBytes = maxHeldBytes
        self.deadlines = deadlines
        self.isOverloaded = isOverloaded
        self.now = now
    }

    /// Whether a job is waiting or running, or is not tried again yet.
    func isPending(_ key: Key) -> Bool {
        let now = now()
        return state.withLock { $0.pending.contains(key) || $0.resting[key].map { $0 > now } ?? false }
    }

    /// Whether a job is waiting or running.
    func isUnderWay(_ key: Key) -> Bool { state.withLock { $0.pending.contains(key) } }

    func recordInterimAnswer() { state.withLock { $0.interimAnswers += 1 } }

    /// Starts a job, unless the variant already has one.
    ///
    /// - Parameters:
    ///   - bytes: the bytes of the originals that `work` holds.
    ///   - urgency: the urgency of `work`, which shows whether it waits for a pixel thread.
    func start(
        _ key: Key, holding bytes: Int, urgency: Urgency = Urgency(.background), _ work: @escaping Work
    ) {
        guard !isPending(key) else { return }
        let isOverloaded = isOverloaded()
        let now = now()
        state.withLock { state in
            guard !state.isClosed, !state.pending.contains(key) else { return }
            guard !isOverloaded, state.waiting.count < Self.capacity, state.heldBytes + bytes <= maxHeldBytes else {
                return finish(key, .dropped, at: now, &state)
            }
            state.pending.insert(key)
            state.heldBytes += bytes
            state.waiting.append(Job(key: key, bytes: bytes, urgency: urgency, work: work))
            startJobs(&state)
        }
    }

    /// Returns once no job is waiting or running.
    func drain() async {
        while let task = state.withLock({ $0.running.values.first }) { await task.value }
    }

    /// Cancels all jobs and starts no more.
    func shutdown() {
        let tasks = state.withLock { state in
            state.isClosed = true
            state.waiting = []
            return Array(state.running.values)
        }
        for task in tasks { task.cancel() }
    }

    var statistics: FormatUpgradeStatistics {
        state.withLock { state in
            FormatUpgradeStatistics(
                waiting: state.waiting.count, running: state.running.count, interimAnswers: state.interimAnswers,
                outcomes: Outcome.allCases.map { ($0.rawValue, state.outcomes[$0] ?? 0) })
        }
    }

    private func startJobs(_ state: inout State) {
        while state.running.count < concurrency, !state.waiting.isEmpty {
            let job = state.waiting.removeFirst()
            state.running[job.key] = Task { await run(job) }
        }
    }

    private func run(_ job: Job) async {
        let outcome: Outcome
        do throws(PipelineError) {
            let isStored = try await withDeadline(deadlines, expired: PipelineError.timedOut, job.work)
            outcome = isStored ? .made : .failed
        } catch {
            switch error {
            case .overloaded, .cancelled: outcome = .dropped
            case .timedOut: outcome = job.urgency.isQueued ? .dropped : .failed
            default: outcome = .failed
            }
        }
        let now = now()
        state.withLock { state in
            state.running[job.key] = nil
            state.pending.remove(job.key)
            state.heldBytes -= job.bytes
            finish(job.key, outcome, at: now, &state)
            startJobs(&state)
        }
    }

    private func finish(_ key: Key, _ outcome: Outcome, at now: ContinuousClock.Instant, _ state: inout State) {
        state.outcomes[outcome, default: 0] += 1
        guard outcome != .made else { return }
        if state.resting.count >= Self.maxResting { state.resting = state.resting.filter { $0.value > now } }
        if state.resting.count >= Self.maxResting, let first = state.resting.min(by: { $0.value < $1.value }) {
            state.resting[first.key] = nil
        }
        state.resting[key] = now + (outcome == .failed ? Self.restAfterFailure : Self.restAfterDrop)
    }
}

/// The work of making preferred formats behind quicker answers.
package struct FormatUpgradeStatistics: Sendable {
    /// Jobs in the queue.
    package var waiting: Int
    /// Jobs that were started, whether or not they have a pixel thread.
    package var running: Int
    /// Requests that were answered in their interim output since the start.
    package var interimAnswers: Int
    /// Ended jobs since the start: `made`, `dropped` and `failed`.
    package var outcomes: [(result: String, count: Int)]
}

extension ImagePipeline {
    /// The state of the work behind answers in interim outputs.
    package var formatUpgrades: FormatUpgradeStatistics { resolver.upgrades.statistics }
}
