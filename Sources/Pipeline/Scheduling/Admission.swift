import DarkroomRequests
import DarkroomTransforms
import DarkroomWaiting

/// The admission policy of the pixel queue, as a value: no threads, no clock, no closures.
///
/// A job runs when a thread is free and its memory fits into the budget. Until then it waits: jobs of higher priority
/// go first, then jobs of the client that was served least, then the oldest.
///
/// The thread that takes a job weighs it, because weighing reads the source's header. Until then the job counts as a
/// job of mean weight. If no weighed job could use it, memory is reserved for the job, so that a usual job can run at
/// once. A job that proves too heavy returns to its place; lighter jobs may overtake it a limited number of times. The
/// first long job runs on a spare thread, and further long jobs never occupy all other threads, so that short jobs do
/// not wait for their end.
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
        /// The memory that is set aside while it is weighed.
        var allowedBytes = 0
        /// The number of jobs that have overtaken it since it was first in line.
        var timesOvertaken = 0
        var arrivedAt = ContinuousClock.now
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
        case weigh(Job)
        case nothing
    }

    /// The number of jobs that may start before a job that is first in line but does not fit.
    static let maxOvertakings = 16
    /// The most memory that is set aside for a job while it is weighed.
    static let maxAllowedBytes = 64 << 20

    let capacity: Capacity
    private(set) var waiting: WaitingJobs
    /// The memory of the running jobs, and the memory that is set aside for jobs while they are weighed.
    private(set) var runningBytes = 0
    /// The number of long jobs that run.
    private var runningLong = 0
    private var running: [Int: Running] = [:]
    private(set) var shares = FairShares()
    private(set) var throughput = ThroughputEstimate()

    init(capacity: Capacity) {
        self.capacity = capacity
        waiting = WaitingJobs(capacity: capacity)
    }

    /// The number of jobs that may start now. The first long job takes no thread from the others.
    var freeThreads: Int { max(capacity.threads + min(runningLong, 1) - running.count, 0) }

    mutating func admit(_ job: Job, at now: ContinuousClock.Instant) -> Outcome {
        waiting.updateUrgencies(shares)
        if isTooLate(job.urgency, at: now) { return .refused(.tooLate) }
        var job = job
        job.arrivedAt = now
        guard waiting.count >= capacity.queueLength + freeThreads else {
            waiting.insert(job, shares)
            return .waits
        }
        guard let victim = victim(for: job.urgency).map({ waiting.remove(at: $0) }) else { return .refused(.full) }
        waiting.insert(job, shares)
        return .displaces(victim)
    }

    /// The refusal that a job would meet, checked before its source is fetched.
    ///
    /// - Parameter others: the number of jobs whose sources are being fetched. They delay a new job, but count for no
    ///   more than the waiting jobs, and take places only once the queue is half full. Otherwise jobs whose slow origin
    ///   delivers nothing would keep the threads idle.
    mutating func refusal(of urgency: Urgency, behind others: Int, at now: ContinuousClock.Instant) -> Refusal? {
        waiting.updateUrgencies(shares)
        if isTooLate(urgency, behind: min(others, waiting.count), at: now) { return .tooLate }
        guard waiting.count * 2 >= capacity.queueLength, waiting.count + others >= capacity.queueLength else {
            return nil
        }
        return victim(for: urgency) == nil ? .full : nil
    }

    /// Removes the jobs that could not finish before their deadline if they took twice as long as estimated.
    ///
    /// A job may always wait for half of its time, whatever the estimate: if slow jobs led to the refusal of all
    /// others, no job would run to correct the estimate.
    mutating func removeExpired(at now: ContinuousClock.Instant) -> [Job] {
        waiting.updateUrgencies(shares)
        let ofUnweighed = Duration.seconds(2 * throughput.seconds(nil))
        let expired = waiting.line.members.filter { member in
            guard let deadline = member.rating.deadline, let halftime = member.halftime, now > halftime else {
                return false
            }
            return now + (member.job.weight.map { .seconds(2 * throughput.seconds($0)) } ?? ofUnweighed) > deadline
        }
        return expired.map(\.number).sorted().compactMap { waiting.remove($0) }
    }

    /// The next step of a thread that has become free.
    mutating func next() -> Step {
        guard freeThreads > 0 else { return .nothing }
        waiting.updateUrgencies(shares)
        guard let first = waiting.line.first(by: { mayStart($0.job) ? rank($0) : nil }) else { return .nothing }
        // While memory does not suffice for the first job in line, other jobs may use it, but only for a while.
        let exhausted = waiting.weighed.contains { member in
            member.job.timesOvertaken >= Self.maxOvertakings && lacksMemory(member.job) && rank(member) < first.rank
        }
        if exhausted { return .nothing }
        var job = waiting.remove(at: first.index)
        if job.weight == nil { job.allowedBytes = allowance } else { recordOvertaking(by: job) }
        start(job)
        return job.weight == nil ? .weigh(job) : .run(job)
    }

    /// The memory to set aside for a job that is weighed: an equal share for each thread. None if a weighed job could
    /// use it; a long job that waits for a thread could not.
    private var allowance: Int {
        let share = min(capacity.memoryBudgetBytes / capacity.threads, Self.maxAllowedBytes)
        guard share <= capacity.memoryBudgetBytes - runningBytes else { return 0 }
        return waiting.weighed.contains { $0.job.weight.map(leavesThread) ?? false } ? 0 : share
    }

    /// Sets the weight of a job that `next` returned for weighing, and that has not run.
    ///
    /// - Returns: whether the job runs; else it waits again.
    mutating func weighed(_ number: Int, _ weight: JobWeight) -> Bool {
        guard let held = removeRunning(number) else { return false }
        var job = held.job
        (job.weight, job.allowedBytes) = (weight, 0)
        correctShare(of: held.client, bySeconds: -held.seconds)
        guard fits(weight) else {
            waiting.insert(job, shares)
            return false
        }
        waiting.updateUrgencies(shares)
        recordOvertaking(by: job)
        start(job)
        return true
    }

    /// - Parameters:
    ///   - weight: the weight of a job that ran while it was weighed.
    ///   - wasCompleted: false if the job was canceled, so that its time says nothing about other jobs.
    mutating func finish(
        _ number: Int, _ weight: JobWeight? = nil, tookSeconds seconds: Double, wasCompleted: Bool = true
    ) {
        guard let done = removeRunning(number), let weight = weight ?? done.job.weight else { return }
        // The time of a drawing says nothing about other jobs, and would make their estimates far too long.
        if wasCompleted, !weight.isUnpredictable { throughput.record(weight, tookSeconds: seconds) }
        correctShare(of: done.client, bySeconds: seconds - done.seconds)
    }

    /// Drops a job that `next` returned for weighing and that was canceled.
    mutating func abandon(_ number: Int) {
        guard let held = removeRunning(number) else { return }
        correctShare(of: held.client, bySeconds: -held.seconds)
    }

    private mutating func removeRunning(_ number: Int) -> Running? {
        guard let held = running.removeValue(forKey: number) else { return nil }
        runningBytes -= held.job.weight?.bytes ?? held.job.allowedBytes
        if held.job.weight?.isLong ?? false { runningLong -= 1 }
        return held
    }

    mutating func remove(_ number: Int) -> Job? { waiting.remove(number) }

    mutating func removeAll() -> [Job] { waiting.jobs.compactMap { waiting.remove($0.number) } }

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

    private func rank(_ member: WaitingJobs.Member) -> Rank {
        Rank(level: member.level, served: max(member.served, shares.floor), number: member.number)
    }

    private func mayStart(_ job: Job) -> Bool { job.weight.map(fits) ?? true }

    private func fits(_ weight: JobWeight) -> Bool { leavesThread(weight) && hasMemory(weight) }

    private func hasMemory(_ weight: JobWeight) -> Bool {
        runningBytes == 0 || weight.bytes <= capacity.memoryBudgetBytes - runningBytes
    }

    private func leavesThread(_ weight: JobWeight) -> Bool {
        !weight.isLong || runningLong == 0 || runningLong < capacity.threads - 1
    }

    /// Whether memory is all that a job waits for. Others may overtake a long job that waits for a thread as often as
    /// they like: it starts when the long job before it ends, whatever they do.
    private func lacksMemory(_ job: Job) -> Bool {
        job.weight.map { leavesThread($0) && !hasMemory($0) } ?? false
    }

    private func recordOvertaking(by job: Job) {
        let rating = job.urgency.rating
        let served = shares.served(shares.leastServed(of: rating.clients))
        let mine = Rank(level: rating.level, served: served, number: job.number)
        for other in waiting.weighed where lacksMemory(other.job) && rank(other) < mine {
            waiting.recordOvertaking(of: other)
        }
    }

    private mutating func start(_ job: Job) {
        let client = shares.leastServed(of: job.urgency.clients)
        let seconds = throughput.seconds(job.weight)
        shares.charge(client, seconds: seconds)
        waiting.shareChanged(of: client, shares)
        runningBytes += job.weight?.bytes ?? job.allowedBytes
        if job.weight?.isLong ?? false { runningLong += 1 }
        running[job.number] = Running(job: job, client: client, seconds: seconds)
    }

    private mutating func correctShare(of client: String, bySeconds seconds: Double) {
        shares.correct(client, bySeconds: seconds)
        waiting.shareChanged(of: client, shares)
    }

    /// Why a job is refused. The raw values are metric labels.
    enum Refusal: String, CaseIterable, Sendable {
        /// The queue is full.
        case full
        /// A client with fewer waiting jobs took its place.
        case displaced
        /// Its deadline would pass in the queue.
        case tooLate = "too_late"
        /// It waited so long that it could not finish before its deadline.
        case expired
    }

    /// The estimated time until the waiting jobs are done, 1 to 60 seconds.
    var retryAfterSeconds: Int {
        let seconds = Priority.allCases.reduce(0) { $0 + self.seconds(waiting.load(at: $1)) }
        return min(max(Int(seconds.rounded(.up)), 1), 60)
    }

    private func seconds(_ load: WaitingLoad) -> Double { load.seconds(throughput, capacity) }

    /// Whether the deadline would pass in the queue.
    ///
    /// - Parameter others: the number of jobs that will wait too, of mean weight.
    func isTooLate(_ urgency: Urgency, behind others: Int = 0, at now: ContinuousClock.Instant) -> Bool {
        guard let deadline = urgency.deadline, waiting.count > 0 else { return false }
        let secondsOfOthers = Double(others) * throughput.seconds(nil) / Double(capacity.threads)
        let limit = now.duration(to: deadline) / .seconds(Self.margin) - secondsOfOthers
        return secondsBefore(urgency, upTo: limit) > limit
    }

    /// Whether a new job of any client, with this time until its deadline, may be refused: a bound that costs less than
    /// `refusal`.
    func mayRefuse(within timeout: Duration, behind others: Int) -> Bool {
        guard waiting.count > 0 else { return false }
        if waiting.count * 2 >= capacity.queueLength { return true }
        let secondsOfOthers = Double(min(others, waiting.count)) * throughput.seconds(nil) / Double(capacity.threads)
        let most = Priority.allCases.reduce(0) { $0 + seconds(waiting.load(at: $1)) }
        return most > timeout / .seconds(Self.margin) - secondsOfOthers
    }

    /// The factor by which a wait may exceed its estimate, since later clients that were served less go first.
    private static let margin = 1.5

    /// The estimated wait of a new job: the time of all jobs of higher priority, of the waiting jobs of its client, and
    /// of the jobs of other clients until they have been served as much.
    ///
    /// - Parameter limit: clients are compared only if the comparison decides whether the wait exceeds this limit.
    ///   Otherwise the result is a bound on the same side of the limit.
    func secondsBefore(_ newcomer: Urgency, upTo limit: Double? = nil) -> Double {
        let rating = newcomer.rating
        let above = Priority.allCases.filter { $0 > rating.level }.reduce(0) { $0 + seconds(waiting.load(at: $1)) }
        let most = above + seconds(waiting.load(at: rating.level))
        if let limit, most <= limit || above > limit { return most <= limit ? most : above }
        var clients = waiting.loadsOfClients(at: rating.level)
        let own = shares.leastServed(of: rating.clients)
        let mine = clients.removeValue(forKey: own).map { seconds($0.load) } ?? 0
        // Shares are in seconds of one thread.
        let (threads, served) = (Double(capacity.threads), shares.served(own))
        return clients.values.reduce(above + mine) { sum, other in
            let lead = (served - max(other.served, shares.floor)) / threads
            return sum + min(seconds(other.load), max(0, lead + mine))
        }
    }

    /// The waiting job that a new job displaces from a full queue: the newest of the lowest priority below its own, or
    /// else of the client with the most waiting jobs, if that is more than the new job's client would then have.
    func victim(for newcomer: Urgency) -> Int? {
        let rating = newcomer.rating
        return waiting.line.victim(for: rating.clients, at: rating.level)
    }
}
