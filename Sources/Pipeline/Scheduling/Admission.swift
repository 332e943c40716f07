/// Who runs, who waits and who is sent away, as a value: no threads, no clock, no closures.
///
/// Work runs when a thread is free and its memory fits beside that of what runs. Until then it waits: the most urgent first, among
/// equals whoever's clients have had least, then whoever came first.
///
/// Work is weighed by the thread that takes it up, since that reads the source's header. Until then it counts as work of the usual
/// weight. What proves too heavy goes back to its place; lighter work may overtake it, but only so often.
struct Admission {
    /// What there is to give.
    struct Room: Hashable, Sendable {
        var threads: Int
        /// Jobs that may wait.
        var places: Int
        /// Bytes of what runs, together. Work heavier than that runs alone.
        var memoryBudgetBytes: Int
    }

    /// A piece of work; equal numbers are the same piece.
    struct Job: Sendable {
        let number: Int
        let urgency: Urgency
        /// Nil = not weighed yet.
        var weight: JobWeight?
        /// How often others have begun before it since it was its turn.
        var timesOvertaken = 0
        fileprivate(set) var arrivedAt = ContinuousClock.now
    }

    /// A job that a thread has.
    private struct Running {
        var job: Job
        let client: String
        /// What its client was charged.
        let seconds: Double
    }

    enum Arrival {
        case waits
        /// It waits in the place of one that is to be refused.
        case displaces(Job)
        case refused(Refusal)
    }

    enum Step {
        case run(Job)
        /// Its weight has to be found out, then `weighed` decides.
        case weigh(Job)
        case nothing
    }

    /// How many may begin before one that has had its turn but does not fit.
    static let maxOvertakings = 16

    let room: Room
    private(set) var waiting: [Job] = []
    /// Bytes of what runs.
    private(set) var runningBytes = 0
    private var running: [Int: Running] = [:]
    var shares = FairShares()
    var pace = Pace()

    init(room: Room) {
        self.room = room
    }

    var freeThreads: Int { max(room.threads - running.count, 0) }

    /// What waits and has been weighed, together.
    var waitingBytes: Int { waiting.reduce(0) { $0 + ($1.weight?.bytes ?? 0) } }

    mutating func arrive(_ job: Job, at now: ContinuousClock.Instant) -> Arrival {
        if isTooLate(job.urgency, at: now) { return .refused(.tooLate) }
        var job = job
        job.arrivedAt = now
        guard waiting.count >= room.places + freeThreads else {
            waiting.append(job)
            return .waits
        }
        guard let index = victim(for: job.urgency) else { return .refused(.full) }
        let victim = waiting.remove(at: index)
        waiting.append(job)
        return .displaces(victim)
    }

    /// Takes out what nobody has the patience for any more: should it take twice as long as foretold, it could not be done in time.
    mutating func removeExpired(at now: ContinuousClock.Instant) -> [Job] {
        let expired = waiting.filter { isExpired($0, at: now) }
        if !expired.isEmpty { waiting.removeAll { job in expired.contains { $0.number == job.number } } }
        return expired
    }

    /// It has half of its time for waiting, whatever was foretold: were all refused because some took long, no others would come that
    /// show the foretelling to be wrong.
    private func isExpired(_ job: Job, at now: ContinuousClock.Instant) -> Bool {
        guard let deadline = job.urgency.deadline else { return false }
        let patience = job.arrivedAt.duration(to: deadline)
        return now + min(.seconds(2 * pace.seconds(job.weight)), patience / 2) > deadline
    }

    /// What a free thread is to do now.
    mutating func next() -> Step {
        guard freeThreads > 0, let first = firstInLine() else { return .nothing }
        if mayBegin(waiting[first]) { return begin(at: first) }
        // It was its turn. Others may use the room that it cannot, for a while.
        let line = waiting.indices.map { (index: $0, rank: rank(waiting[$0])) }.sorted { $0.rank < $1.rank }
        for (index, _) in line {
            if mayBegin(waiting[index]) { return begin(at: index) }
            guard waiting[index].timesOvertaken < Self.maxOvertakings else { return .nothing }
        }
        return .nothing
    }

    /// The weight of a job that `next` gave to be weighed. True = it runs; else it waits again.
    mutating func weighed(_ number: Int, _ weight: JobWeight) -> Bool {
        guard let held = running.removeValue(forKey: number) else { return false }
        var job = held.job
        job.weight = weight
        shares.correct(held.client, bySeconds: -held.seconds)
        guard fits(weight) else {
            waiting.append(job)
            return false
        }
        noteOvertaken(by: job)
        start(job)
        return true
    }

    /// - Parameter isWhole: it was not broken off, so that its time tells of others'.
    mutating func finish(_ number: Int, tookSeconds seconds: Double, isWhole: Bool = true) {
        guard let done = running.removeValue(forKey: number), let weight = done.job.weight else { return }
        runningBytes -= weight.bytes
        if isWhole { pace.note(weight, tookSeconds: seconds) }
        shares.correct(done.client, bySeconds: seconds - done.seconds)
    }

    /// A job that `next` gave to be weighed is not wanted any more.
    mutating func abandon(_ number: Int) {
        guard let held = running.removeValue(forKey: number) else { return }
        shares.correct(held.client, bySeconds: -held.seconds)
    }

    mutating func drop(_ number: Int) -> Job? {
        waiting.firstIndex { $0.number == number }.map { waiting.remove(at: $0) }
    }

    mutating func removeAll() -> [Job] {
        defer { waiting = [] }
        return waiting
    }

    // MARK: Turns

    /// Lower ones go first.
    private struct Rank: Comparable {
        let level: Priority
        let served: Double
        let number: Int

        static func < (left: Rank, right: Rank) -> Bool {
            if left.level != right.level { return left.level > right.level }
            return (left.served, left.number) < (right.served, right.number)
        }
    }

    /// Urgencies rise while work waits, so they are compared now and not at admission.
    private func rank(_ job: Job) -> Rank {
        let client = shares.leastServed(of: job.urgency.clients)
        return Rank(level: job.urgency.level, served: shares.served(client), number: job.number)
    }

    private func firstInLine() -> Int? {
        waiting.indices.map { (index: $0, rank: rank(waiting[$0])) }.min { $0.rank < $1.rank }?.index
    }

    private func mayBegin(_ job: Job) -> Bool { job.weight.map(fits) ?? true }

    private func fits(_ weight: JobWeight) -> Bool {
        runningBytes == 0 || weight.bytes <= room.memoryBudgetBytes - runningBytes
    }

    private mutating func begin(at index: Int) -> Step {
        let job = waiting.remove(at: index)
        if job.weight != nil { noteOvertaken(by: job) }
        start(job)
        return job.weight == nil ? .weigh(job) : .run(job)
    }

    private mutating func noteOvertaken(by job: Job) {
        let mine = rank(job)
        for index in waiting.indices where !mayBegin(waiting[index]) && rank(waiting[index]) < mine {
            waiting[index].timesOvertaken += 1
        }
    }

    private mutating func start(_ job: Job) {
        let client = shares.leastServed(of: job.urgency.clients)
        let seconds = pace.seconds(job.weight)
        shares.begin(client, seconds: seconds)
        runningBytes += job.weight?.bytes ?? 0
        running[job.number] = Running(job: job, client: client, seconds: seconds)
    }
}
