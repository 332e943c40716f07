extension Admission {
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
        let seconds = waiting.reduce(0) { $0 + secondsOfAll($1) }
        return min(max(Int(seconds.rounded(.up)), 1), 60)
    }

    /// The share of the whole queue's time that a job takes: its thread time divided by the threads, or more if it
    /// takes a larger part of the memory budget.
    private func secondsOfAll(_ job: Job) -> Double {
        let ofMemory = min(Double(job.weight?.bytes ?? 0) / Double(capacity.memoryBudgetBytes), 1)
        return throughput.seconds(job.weight) * max(1 / Double(capacity.threads), ofMemory)
    }

    /// The refusal that a job would meet, so that its source is not fetched in vain.
    ///
    /// - Parameter others: the number of jobs whose sources are being fetched. They count only once the queue is half
    ///   full; otherwise jobs that never arrive would keep the threads idle.
    func refusal(of urgency: Urgency, behind others: Int, at now: ContinuousClock.Instant) -> Refusal? {
        if isTooLate(urgency, at: now) { return .tooLate }
        guard waiting.count * 2 >= capacity.queueLength, waiting.count + others >= capacity.queueLength
        else { return nil }
        return victim(for: urgency) == nil ? .full : nil
    }

    /// Whether the deadline would pass in the queue.
    func isTooLate(_ urgency: Urgency, at now: ContinuousClock.Instant) -> Bool {
        guard let deadline = urgency.deadline, !waiting.isEmpty else { return false }
        return now + .seconds(Self.margin * secondsBefore(urgency)) > deadline
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
