import DarkroomRequests
import DarkroomTransforms
import DarkroomWaiting

@testable import DarkroomPipeline

/// The admission policy written down plainly: it derives everything from the waiting jobs for each decision.
/// ``Admission`` must decide alike.
struct ScanningAdmission {
    typealias Job = Admission.Job

    /// A job on a thread.
    private struct Running {
        var job: Job
        let client: String
        /// The seconds charged to its client.
        let seconds: Double
    }

    let capacity: Admission.Capacity
    private(set) var waiting: [Job] = []
    /// The memory of the running jobs.
    private(set) var runningBytes = 0
    private var running: [Int: Running] = [:]
    var shares = FairShares()
    var throughput = ThroughputEstimate()

    init(capacity: Admission.Capacity) {
        self.capacity = capacity
    }

    var freeThreads: Int { max(capacity.threads + (longJobs > 0 ? 1 : 0) - running.count, 0) }

    private var longJobs: Int { running.values.count { $0.job.weight?.isLong ?? false } }

    /// The memory of the waiting jobs that have been weighed.
    var waitingBytes: Int { waiting.reduce(0) { $0 + ($1.weight?.bytes ?? 0) } }

    mutating func admit(_ job: Job, at now: ContinuousClock.Instant) -> Admission.Outcome {
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
    mutating func next() -> Admission.Step {
        guard freeThreads > 0, let first = firstInLine() else { return .nothing }
        if mayStart(waiting[first]) { return takeJob(at: first) }
        // It was its turn. Other jobs may use the resources that it cannot, for a while.
        let line = waiting.indices.map { (index: $0, rank: rank(waiting[$0])) }.sorted { $0.rank < $1.rank }
        for (index, _) in line {
            if mayStart(waiting[index]) { return takeJob(at: index) }
            if lacksMemory(waiting[index]), waiting[index].timesOvertaken >= Admission.maxOvertakings {
                return .nothing
            }
        }
        return .nothing
    }

    /// Sets the weight of a job that `next` returned for weighing.
    ///
    /// - Returns: whether the job runs; else it waits again.
    mutating func weighed(_ number: Int, _ weight: JobWeight) -> Bool {
        guard let held = removeRunning(number) else { return false }
        var job = held.job
        (job.weight, job.allowedBytes) = (weight, 0)
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
    mutating func finish(
        _ number: Int, _ weight: JobWeight? = nil, tookSeconds seconds: Double, wasCompleted: Bool = true
    ) {
        guard let done = removeRunning(number), let weight = weight ?? done.job.weight else { return }
        if wasCompleted, !weight.isUnpredictable { throughput.record(weight, tookSeconds: seconds) }
        shares.correct(done.client, bySeconds: seconds - done.seconds)
    }

    /// Drops a job that `next` returned for weighing and that was canceled.
    mutating func abandon(_ number: Int) {
        guard let held = removeRunning(number) else { return }
        shares.correct(held.client, bySeconds: -held.seconds)
    }

    private mutating func removeRunning(_ number: Int) -> Running? {
        guard let held = running.removeValue(forKey: number) else { return nil }
        runningBytes -= held.job.weight?.bytes ?? held.job.allowedBytes
        return held
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

    private func fits(_ weight: JobWeight) -> Bool { leavesThread(weight) && hasMemory(weight) }

    /// One long job runs beside the threads, and further ones leave one of them free.
    private func leavesThread(_ weight: JobWeight) -> Bool {
        !weight.isLong || longJobs < max(capacity.threads - 1, 1)
    }

    private func lacksMemory(_ job: Job) -> Bool {
        job.weight.map { leavesThread($0) && !hasMemory($0) } ?? false
    }

    private func hasMemory(_ weight: JobWeight) -> Bool {
        runningBytes == 0 || weight.bytes <= capacity.memoryBudgetBytes - runningBytes
    }

    private mutating func takeJob(at index: Int) -> Admission.Step {
        var job = waiting.remove(at: index)
        if job.weight != nil {
            recordOvertaking(by: job)
        } else if waiting.allSatisfy({ $0.weight.map { !leavesThread($0) } ?? true }) {
            let share = min(capacity.memoryBudgetBytes / capacity.threads, Admission.maxAllowedBytes)
            if runningBytes + share <= capacity.memoryBudgetBytes { job.allowedBytes = share }
        }
        start(job)
        return job.weight == nil ? .weigh(job) : .run(job)
    }

    private mutating func recordOvertaking(by job: Job) {
        let mine = rank(job)
        for index in waiting.indices where lacksMemory(waiting[index]) && rank(waiting[index]) < mine {
            waiting[index].timesOvertaken += 1
        }
    }

    private mutating func start(_ job: Job) {
        let client = shares.leastServed(of: job.urgency.clients)
        let seconds = throughput.seconds(job.weight)
        shares.charge(client, seconds: seconds)
        runningBytes += job.weight?.bytes ?? job.allowedBytes
        running[job.number] = Running(job: job, client: client, seconds: seconds)
    }

    // MARK: Refusals

    /// The estimated time until the waiting jobs are done, 1 to 60 seconds.
    var retryAfterSeconds: Int {
        let seconds = waiting.reduce(0) { $0 + secondsOfAll($1) }
        return min(max(Int(seconds.rounded(.up)), 1), 60)
    }

    /// The share of the whole queue's time that a job takes: its thread time divided by the threads, or more if it
    /// takes a larger part of the memory budget.
    private func secondsOfAll(_ job: Job) -> Double {
        let ofMemory = min(Double(job.weight?.bytes ?? 0) / Double(capacity.memoryBudgetBytes), 1)
        return throughput.seconds(job.weight) * max(1 / Double(capacity.threads), ofMemory)
    }

    /// The refusal that a job would meet, checked before its source is fetched.
    ///
    /// - Parameter others: the number of jobs whose sources are being fetched. They count only once the queue is half
    ///   full; otherwise jobs that never arrive would keep the threads idle.
    func refusal(of urgency: Urgency, behind others: Int, at now: ContinuousClock.Instant) -> Admission.Refusal? {
        if isTooLate(urgency, behind: min(others, waiting.count), at: now) { return .tooLate }
        guard waiting.count * 2 >= capacity.queueLength, waiting.count + others >= capacity.queueLength
        else { return nil }
        return victim(for: urgency) == nil ? .full : nil
    }

    /// Whether the deadline would pass in the queue.
    func isTooLate(_ urgency: Urgency, behind others: Int = 0, at now: ContinuousClock.Instant) -> Bool {
        guard let deadline = urgency.deadline, !waiting.isEmpty else { return false }
        let seconds = secondsBefore(urgency) + Double(others) * throughput.seconds(nil) / Double(capacity.threads)
        return now + .seconds(Self.margin * seconds) > deadline
    }

    /// The factor by which a wait may exceed its estimate, since later clients that were served less go first.
    private static let margin = 1.5

    /// The estimated wait of a new job: the time of all jobs of higher priority, of its own client's waiting jobs, and
    /// of the other clients' jobs until they are served as much.
    func secondsBefore(_ newcomer: Urgency) -> Double {
        let level = newcomer.level
        let own = shares.leastServed(of: newcomer.clients)
        var above = 0.0
        var equals: [String: Double] = [:]
        for job in waiting {
            let (seconds, theirs) = (secondsOfAll(job), job.urgency.level)
            if theirs > level { above += seconds }
            if theirs == level { equals[shares.leastServed(of: job.urgency.clients), default: 0] += seconds }
        }
        let mine = equals.removeValue(forKey: own) ?? 0
        // Shares are in seconds of one thread.
        let threads = Double(capacity.threads)
        let lead = { (client: String) in (shares.served(own) - shares.served(client)) / threads + mine }
        let others = equals.reduce(0) { $0 + min($1.value, max(0, lead($1.key))) }
        return above + mine + others
    }

    /// The waiting job that a new job displaces from a full queue: the newest of the lowest priority below its own, or
    /// else of the client with the most waiting jobs, if that is more than the new job's client would then have.
    func victim(for newcomer: Urgency) -> Int? {
        let levels = waiting.map(\.urgency.level)
        guard let lowest = levels.min() else { return nil }
        if lowest < newcomer.level { return newest { levels[$0] == lowest } }
        let clients = waiting.map { shares.leastServed(of: $0.urgency.clients) }
        let counts = clients.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        let own = newcomer.clients.map { counts[$0] ?? 0 }.min() ?? 0
        guard let greediest = counts.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }), greediest.value > own + 1,
            !newcomer.clients.contains(greediest.key)
        else { return nil }
        return newest { clients[$0] == greediest.key && levels[$0] <= newcomer.level }
    }

    private func newest(where isIncluded: (Int) -> Bool) -> Int? {
        waiting.indices.filter(isIncluded).max { waiting[$0].number < waiting[$1].number }
    }
}
