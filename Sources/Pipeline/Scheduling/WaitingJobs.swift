/// The waiting jobs, kept in every order that ``Admission`` decides by, so that no decision looks at all of them:
/// insertion and removal take logarithmic time.
///
/// Only jobs that were weighed and did not fit are looked through at each start, because the free memory then decides
/// which of them may start.
struct WaitingJobs {
    private struct Entry {
        var job: Admission.Job
        /// The urgency by which the job has its place.
        let rating: Urgency.Rating
    }

    private let capacity: Admission.Capacity
    private var entries: [Int: Entry] = [:]
    /// The numbers of the jobs that were weighed and did not fit.
    private(set) var weighed: Set<Int> = []
    private(set) var clients: WaitingClients
    /// By priority.
    private var loads = Array(repeating: WaitingLoad(), count: Priority.allCases.count)
    /// By priority.
    private var newest = Array(repeating: IndexedHeap<Int, Newest>(), count: Priority.allCases.count)
    private var deadlines = WaitingDeadlines()
    private let changes = UrgencyChanges()

    init(capacity: Admission.Capacity) {
        self.capacity = capacity
        clients = WaitingClients(capacity: capacity)
    }

    var count: Int { entries.count }

    /// The oldest first.
    var jobs: [Admission.Job] { entries.values.map(\.job).sorted { $0.number < $1.number } }

    subscript(_ number: Int) -> Admission.Job? { entries[number]?.job }

    /// The memory of the jobs that have been weighed.
    var bytes: Int { loads.reduce(0) { $0 + $1.bytes } }

    var lowestLevel: Priority? { Priority.allCases.first { loads[$0.rawValue].count > 0 } }

    func load(at level: Priority) -> WaitingLoad { loads[level.rawValue] }

    func newest(at level: Priority) -> Int? { newest[level.rawValue].first?.key }

    // MARK: Changes

    mutating func insert(_ job: Admission.Job, _ shares: FairShares) {
        place(Entry(job: job, rating: job.urgency.watch(job.number, changes)), shares)
    }

    mutating func remove(_ number: Int) -> Admission.Job? {
        guard let job = take(number) else { return nil }
        job.urgency.stopWatching(number, changes)
        return job
    }

    /// Counts that another job started before this one since it was its turn.
    mutating func recordOvertaking(of number: Int) {
        entries[number]?.job.timesOvertaken += 1
    }

    /// Moves the jobs whose urgency has risen.
    mutating func updateUrgencies(_ shares: FairShares) {
        for number in changes.take() {
            if let job = take(number) { place(Entry(job: job, rating: job.urgency.rating), shares) }
        }
    }

    mutating func shareChanged(of client: String, _ shares: FairShares) {
        clients.shareChanged(of: client, shares)
    }

    /// Removes the jobs that have waited for half of their time and would end after their deadline.
    ///
    /// - Parameter time: the time that a job of this weight needs.
    mutating func removeExpired(
        at now: ContinuousClock.Instant, needing time: (JobWeight?) -> Duration
    ) -> [Admission.Job] {
        let late = weighed.filter { number in
            guard let entry = entries[number], let deadline = entry.rating.deadline else { return false }
            let patience = entry.job.arrivedAt.duration(to: deadline)
            return now + min(time(entry.job.weight), patience / 2) > deadline
        }
        return (deadlines.removeExpired(at: now, needing: time(nil)) + late).sorted().compactMap { remove($0) }
    }

    private mutating func place(_ entry: Entry, _ shares: FairShares) {
        let (job, level) = (entry.job, entry.rating.level.rawValue)
        entries[job.number] = entry
        newest[level].set(job.number, to: Newest(number: job.number))
        loads[level].add(job.weight, capacity)
        clients.insert(job, entry.rating, shares)
        if job.weight != nil {
            weighed.insert(job.number)
        } else if let deadline = entry.rating.deadline {
            deadlines.insert(job.number, from: job.arrivedAt, until: deadline)
        }
    }

    private mutating func take(_ number: Int) -> Admission.Job? {
        guard let entry = entries.removeValue(forKey: number) else { return nil }
        let level = entry.rating.level.rawValue
        newest[level].remove(number)
        loads[level].remove(entry.job.weight, capacity)
        clients.remove(entry.job, entry.rating)
        weighed.remove(number)
        deadlines.remove(number)
        return entry.job
    }
}
