import Synchronization

/// Jobs that no caller waits for: one for each key, few at a time, and few that wait.
///
/// A job that does not fit is dropped. After a job was dropped or has failed, its key rests, so that not each request
/// starts it again.
package final class BackgroundJobs<Key: Hashable & Sendable>: Sendable {
    /// The bounds of all jobs together.
    package struct Limits: Sendable {
        /// The most jobs that run at once, at least 1.
        package var running: Int
        /// The most jobs that wait.
        package var waiting = 64
        /// The most bytes that jobs hold.
        package var heldBytes: Int
        /// The rest after a job was dropped, which is usually a matter of load.
        package var restAfterDrop = Duration.seconds(1)
        package var restAfterFailure = Duration.seconds(60)
        /// The maximum number of keys that rest. Beyond it, the keys with the least remaining rest may be tried again.
        package var resting = 1_024

        package init(running: Int, heldBytes: Int) {
            self.running = max(running, 1)
            self.heldBytes = heldBytes
        }
    }

    /// The end of a job. The raw values are metric labels.
    package enum Outcome: String, CaseIterable, Sendable {
        case made, dropped, failed
    }

    package typealias Work = @Sendable () async -> Outcome

    private struct Job {
        let key: Key
        let bytes: Int
        let work: Work
    }

    private struct State {
        /// Oldest first.
        var waiting: [Job] = []
        var running: [Key: Task<Void, Never>] = [:]
        /// The keys of waiting and running jobs.
        var pending: Set<Key> = []
        /// The keys that are not tried again until then.
        var resting: [Key: ContinuousClock.Instant] = [:]
        var heldBytes = 0
        var outcomes: [Outcome: Int] = [:]
        var isClosed = false
    }

    private let limits: Limits
    private let isOverloaded: @Sendable () -> Bool
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state = Mutex(State())

    /// - Parameter isOverloaded: whether no job is started at the moment.
    package init(
        _ limits: Limits, isOverloaded: @escaping @Sendable () -> Bool,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.limits = limits
        self.isOverloaded = isOverloaded
        self.now = now
    }

    /// Whether the key's job is waiting or running, or is not tried again yet.
    package func isPending(_ key: Key) -> Bool {
        let now = now()
        return state.withLock { $0.pending.contains(key) || $0.resting[key].map { $0 > now } ?? false }
    }

    /// Whether the key's job is waiting or running.
    package func isUnderWay(_ key: Key) -> Bool { state.withLock { $0.pending.contains(key) } }

    /// The numbers of waiting and of running jobs, and of jobs that have ended.
    package var counts: (waiting: Int, running: Int, outcomes: [Outcome: Int]) {
        state.withLock { ($0.waiting.count, $0.running.count, $0.outcomes) }
    }

    /// Starts a job, unless its key has one or rests.
    ///
    /// - Parameter bytes: the bytes that `work` holds.
    package func start(_ key: Key, holding bytes: Int, _ work: @escaping Work) {
        guard !isPending(key) else { return }
        let isOverloaded = isOverloaded()
        let now = now()
        state.withLock { state in
            guard !state.isClosed, !state.pending.contains(key) else { return }
            guard !isOverloaded, state.waiting.count < limits.waiting, state.heldBytes + bytes <= limits.heldBytes
            else { return finish(key, .dropped, at: now, &state) }
            state.pending.insert(key)
            state.heldBytes += bytes
            state.waiting.append(Job(key: key, bytes: bytes, work: work))
            startJobs(&state)
        }
    }

    /// Returns once no job is waiting or running.
    package func drain() async {
        while let task = state.withLock({ $0.running.values.first }) { await task.value }
    }

    /// Cancels all jobs and starts no more.
    package func shutdown() {
        let tasks = state.withLock { state in
            state.isClosed = true
            state.waiting = []
            return Array(state.running.values)
        }
        for task in tasks { task.cancel() }
    }

    private func startJobs(_ state: inout State) {
        while state.running.count < limits.running, !state.waiting.isEmpty {
            let job = state.waiting.removeFirst()
            state.running[job.key] = Task { await run(job) }
        }
    }

    private func run(_ job: Job) async {
        let outcome = await job.work()
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
        if state.resting.count >= limits.resting { state.resting = state.resting.filter { $0.value > now } }
        if state.resting.count >= limits.resting, let first = state.resting.min(by: { $0.value < $1.value }) {
            state.resting[first.key] = nil
        }
        state.resting[key] = now + (outcome == .failed ? limits.restAfterFailure : limits.restAfterDrop)
    }
}

/// Work that continues after the request that started it, until its owner ends it.
package final class OwnedTasks<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var keys: Set<Key> = []
        var lastNumber = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: the most tasks at once; further work is dropped.
    package init(capacity: Int = .max) {
        self.capacity = capacity
    }

    /// Starts work, unless the owner has ended or has as many tasks as it may have.
    ///
    /// - Parameter key: work is dropped while other work with this key is in progress; nil = never.
    package func run(_ key: Key? = nil, _ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isClosed, state.tasks.count < capacity, key.map(state.keys.contains) != true else { return }
            if let key { state.keys.insert(key) }
            state.lastNumber += 1
            let number = state.lastNumber
            state.tasks[number] = Task { [self] in
                await work()
                self.state.withLock { state in
                    state.tasks[number] = nil
                    if let key { state.keys.remove(key) }
                }
            }
        }
    }

    /// Returns once the work that is in progress now has finished.
    package func drain() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }

    /// Cancels all work and starts no more.
    package func shutdown() {
        let tasks = state.withLock { state in
            state.isClosed = true
            return state.tasks.values
        }
        for task in tasks { task.cancel() }
    }
}
