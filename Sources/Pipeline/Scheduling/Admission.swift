/// The admission policy of the pixel queue, as a value: no threads, no clock, no closures.
///
/// A job runs when a thread is free and its memory fits into the budget. Until then it waits: jobs of higher priority
/// go first, then jobs of the client that was served least, then the oldest.
///
/// A job is weighed by the thread that takes it, because that reads the source's header. Until then it counts as a job
/// of mean weight. A job that proves too heavy returns to its place; lighter jobs may overtake it a limited number of
/// times.
struct Admission {
    /// The resources of the queue.
    struct Capacity: Hashable, Sendable {
        var threads: Int
        /// The most jobs that may wait.
        var queueLength: Int
        /// The memory of all running jobs. A heavier job runs alone.
        var memoryBudgetBytes: Int
    }

    /// A job, identified by its number.
    struct Job: Sendable {
        let number: Int
        let urgency: Urgency
        /// Nil until it is weighed.
        var weight: JobWeight?
        /// How often other jobs started before it since it was its turn.
        var timesOvertaken = 0
        fileprivate(set) var arrivedAt = ContinuousClock.now
    }

    /// A job on a thread.
    private struct Running {
        var job: Job
        let client: String
        /// The seconds charged to its client.
        let seconds: Double
    }

    /// What becomes of a new job.
    enum Outcome {
        case waits
        /// It waits in the place of another job, which is refused.
        case displaces(Job)
        case refused(Refusal)
    }

    /// The next step of a free thread.
    enum Step {
        case run(Job)
        /// Weigh the job; then `weighed` decides.
        case weigh(Job)
        case nothing
    }

    /// How many jobs may start before one whose turn it is but that does not fit.
    static let maxOvertakings = 16

    let capacity: Capacity
    private(set) var waiting: [Job] = []
    /// The memory of the running jobs.
    private(set) var runningBytes = 0
    private var running: [Int: Running] = [:]
    var shares = FairShares()
    var throughput = ThroughputEstimate()

    init(capacity: Capacity) {
        self.capacity = capacity
    }

    var freeThreads: Int { max(capacity.threads - running.count, 0) }

    /// The memory of the waiting jobs that have been weighed.
    var waitingBytes: Int { waiting.reduce(0) { $0 + ($1.weight?.bytes ?? 0) } }

    mutating func admit(_ job: Job, at now: ContinuousClock.Instant) -> Outcome {
        if isTooLate(job.urgency, at: now) { return .refused(.tooLate) }
        var job = job
        job.arrivedAt = now
        guard waiting.count >= capacity.queueLength + freeThreads else {
            waiting.append(job)
            return .waits
        }
        guard let index = victim(for: job.urgency) else { return .refused(.full) }
        let victim = waiting.remove(at: index)
        waiting.append(job)
        return .displaces(victim)
    }

    /// Removes the jobs that could not finish before their deadline if they took twice as long as estimated.
    mutating func removeExpired(at now: ContinuousClock.Instant) -> [Job] {
        let expired = waiting.filter { isExpired($0, at: now) }
        if !expired.isEmpty { waiting.removeAll { job in expired.contains { $0.number == job.number } } }
        return expired
    }

    /// A job may always wait for half of its time, whatever the estimate: if slow jobs led to the refusal of all
    /// others, no job would run to correct the estimate.
    private func isExpired(_ job: Job, at now: ContinuousClock.Instant) -> Bool {
        guard let deadline = job.urgency.deadline else { return false }
        let patience = job.arrivedAt.duration(to: deadline)
        return now + min(.seconds(2 * throughput.seconds(job.weight)), patience / 2) > deadline
    }

    /// The next step of a thread that has become free.
    mutating func next() -> Step {
        guard freeThreads > 0, let first = firstInLine() else { return .nothing }
        if mayStart(waiting[first]) { return takeJob(at: first) }
        // It was its turn. Other jobs may use the resources that it cannot, for a while.
        let line = waiting.indices.map { (index: $0, rank: rank(waiting[$0])) }.sorted { $0.rank < $1.rank }
        for (index, _) in line {
            if mayStart(waiting[index]) { return takeJob(at: index) }
            guard waiting[index].timesOvertaken < Self.maxOvertakings else { return .nothing }
        }
        return .nothing
    }

    /// Sets the weight of a job that `next` returned for weighing.
    ///
    /// - Returns: whether the job runs; else it waits again.
    mutating func weighed(_ number: Int, _ weight: JobWeight) -> Bool {
        guard let held = running.removeValue(forKey: number) else { return false }
        var job = held.job
        job.weight = weight
        shares.correct(held.client, bySeconds: -held.seconds)
        guard fits(weight) else {
            waiting.append(job)
            return false
        }
        recordOvertaking(by: job)
        start(job)
        return true
    }

    /// - Parameter wasCompleted: false if the job was canceled, so that its time says nothing about other jobs.
    mutating func finish(_ number: Int, tookSeconds seconds: Double, wasCompleted: Bool = true) {
        guard let done = running.removeValue(forKey: number), let weight = done.job.weight else { return }
        runningBytes -= weight.bytes
        if wasCompleted { throughput.record(weight, tookSeconds: seconds) }
        shares.correct(done.client, bySeconds: seconds - done.seconds)
    }

    /// Drops a job that `next` returned for weighing and that was canceled.
    mutating func abandon(_ number: Int) {
        guard let held = running.removeValue(forKey: number) else { return }
        shares.correct(held.client, bySeconds: -held.seconds)
    }

    mutating func remove(_ number: Int) -> Job? {
        waiting.firstIndex { $0.number == number }.map { waiting.remove(at: $0) }
    }

    mutating func removeAll() -> [Job] {
        defer { waiting = [] }
        return waiting
    }

    // MARK: Order

    /// The position in the queue; lower ranks go first.
    private struct Rank: Comparable {
        let level: Priority
        let served: Double
        let number: Int

        static func < (left: Rank, right: Rank) -> Bool {
            if left.level != right.level { return left.level > right.level }
            return (left.served, left.number) < (right.served, right.number)
        }
    }

    /// Computed at each comparison, because urgencies rise while jobs wait.
    private func rank(_ job: Job) -> Rank {
        let client = shares.leastServed(of: job.urgency.clients)
        return Rank(level: job.urgency.level, served: shares.served(client), number: job.number)
    }

    private func firstInLine() -> Int? {
        waiting.indices.map { (index: $0, rank: rank(waiting[$0])) }.min { $0.rank < $1.rank }?.index
    }

    private func mayStart(_ job: Job) -> Bool { job.weight.map(fits) ?? true }

    private func fits(_ weight: JobWeight) -> Bool {
        runningBytes == 0 || weight.bytes <= capacity.memoryBudgetBytes - runningBytes
    }

    private mutating func takeJob(at index: Int) -> Step {
        let job = waiting.remove(at: index)
        if job.weight != nil { recordOvertaking(by: job) }
        start(job)
        return job.weight == nil ? .weigh(job) : .run(job)
    }

    private mutating func recordOvertaking(by job: Job) {
        let mine = rank(job)
        for index in waiting.indices where !mayStart(waiting[index]) && rank(waiting[index]) < mine {
            waiting[index].timesOvertaken += 1
        }
    }

    private mutating func start(_ job: Job) {
        let client = shares.leastServed(of: job.urgency.clients)
        let seconds = throughput.seconds(job.weight)
        shares.charge(client, seconds: seconds)
        runningBytes += job.weight?.bytes ?? 0
        running[job.number] = Running(job: job, client: client, seconds: seconds)
    }
}
