import DarkroomTransforms

/// The workers that are idle or busy, and the choice of a worker for a job.
struct WorkerTable {
    struct Entry {
        let process: ChildProcess
        fileprivate(set) var jobs = 0
        fileprivate(set) var isBusy = false
        /// When it became idle.
        fileprivate(set) var idleSince = ContinuousClock.now
        /// The job that it has planned and would process at once. The worker still counts as idle.
        fileprivate(set) var planned: EncodedJob?
        /// Whether the worker is replaced as soon as another worker is ready.
        var needsReplacement = false
        /// Whether it has had all of its jobs, so that it gets no further job. It may still process the job that it has
        /// planned.
        fileprivate(set) var isSpent = false
        /// The contents of its cache of decoded images.
        var decoded = DecodedStatistics()
        /// Requests other than jobs that wait until the worker is idle.
        var deferred: [WorkerRequest] = []
        /// Sources whose decoded images it may hold, most recent last.
        fileprivate var sources: [String] = []
    }

    typealias ID = Int

    /// Sources recorded per worker; its cache seldom holds more.
    private static let maxSources = 64
    private static let maxDeferred = 64

    /// Jobs that one worker gets.
    let maxJobs: Int

    private var entries: [ID: Entry] = [:]
    private var lastID = 0
    /// Cache statistics of workers that have exited.
    private var retired = DecodedStatistics()
    /// CPU time of workers that have exited or are being killed, in milliseconds.
    private var retiredMilliseconds = 0

    init(maxJobs: Int) { self.maxJobs = maxJobs }

    var count: Int { entries.count }

    var processes: [ChildProcess] { entries.values.map(\.process) }

    /// Cache statistics of all workers, including exited workers.
    var decoded: DecodedStatistics {
        entries.values.reduce(into: retired) { sum, entry in sum.add(entry.decoded) }
    }

    /// CPU time of all workers, including exited workers, in milliseconds.
    var processorMilliseconds: Int {
        entries.values.reduce(retiredMilliseconds) { $0 + $1.process.processorMilliseconds }
    }

    /// Workers with a job.
    var busy: [ChildProcess] { entries.values.filter(\.isBusy).map(\.process) }

    subscript(id: ID) -> Entry? { entries[id] }

    mutating func add(_ process: ChildProcess) {
        lastID += 1
        entries[lastID] = Entry(process: process)
    }

    /// Marks an idle worker busy and returns it. The order of preference is the worker that has planned the job, a
    /// worker that has the source decoded, and the worker with the most free cache.
    mutating func take(for source: String?, planned job: EncodedJob?) -> (id: ID, isPlanned: Bool)? {
        let planned = job.flatMap { job in entries.first { !$0.value.isBusy && $0.value.planned == job } }
        let idle = entries.filter { !$0.value.isBusy && !$0.value.isSpent }
        let hot = source.flatMap { source in idle.first { $0.value.sources.contains(source) } }
        let chosen = planned ?? hot ?? idle.min { $0.value.rank($0.key) < $1.value.rank($1.key) }
        guard let (id, entry) = chosen else { return nil }
        entries[id]?.isBusy = true
        entries[id]?.planned = nil
        if planned == nil {
            entries[id]?.jobs += 1
            entries[id]?.isSpent = entry.jobs + 1 >= maxJobs
        }
        return (id, planned != nil)
    }

    /// Whether an idle worker has planned this job as its last job.
    func isPlannedLast(_ job: EncodedJob?) -> Bool {
        job.map { job in entries.values.contains { !$0.isBusy && $0.isSpent && $0.planned == job } } ?? false
    }

    /// If there are `limit` workers and each keeps a planned job as its last job, has a worker replaced, so that other
    /// jobs get a worker.
    ///
    /// - Returns: whether a worker is to be replaced.
    mutating func dropPlanned(limit: Int) -> Bool {
        guard entries.count >= limit, entries.values.allSatisfy({ !$0.isBusy && $0.isSpent && $0.planned != nil }),
            let id = entries.keys.min()
        else { return false }
        entries[id]?.planned = nil
        entries[id]?.needsReplacement = true
        return true
    }

    /// Records the job that an idle worker has planned and would process at once.
    mutating func record(planned job: EncodedJob, by id: ID) { entries[id]?.planned = job }

    /// Returns the idle worker that has planned the job, which from now on does not count as its own.
    mutating func withdraw(_ job: EncodedJob) -> ChildProcess? {
        guard let (id, entry) = entries.first(where: { $0.value.planned == job }) else { return nil }
        entries[id]?.planned = nil
        if entry.isSpent { entries[id]?.needsReplacement = true }
        return entry.isBusy ? nil : entry.process
    }

    /// Marks all idle workers that match the predicate busy.
    mutating func takeAll(where predicate: (Entry) -> Bool) -> [ID] {
        let ids = entries.filter { !$0.value.isBusy && predicate($0.value) }.map(\.key)
        for id in ids { entries[id]?.isBusy = true }
        return ids
    }

    /// Queues a request for busy workers that match the predicate.
    mutating func deferRequest(_ request: WorkerRequest, where predicate: (Entry) -> Bool) {
        for (id, entry) in entries where entry.isBusy && predicate(entry) {
            // With that many requests, dropping the whole cache is less work.
            let isFull = entry.deferred.count >= Self.maxDeferred
            entries[id]?.deferred = isFull ? [.shrink(fraction: 0)] : entry.deferred + [request]
        }
    }

    mutating func deferRequest(_ request: WorkerRequest, to id: ID) {
        entries[id]?.deferred.append(request)
    }

    /// Removes and returns the requests that the worker must handle before it is idle again.
    mutating func takeDeferred(of id: ID) -> [WorkerRequest] {
        defer { entries[id]?.deferred = [] }
        return entries[id]?.deferred ?? []
    }

    mutating func record(_ decoded: DecodedStatistics, of id: ID) {
        entries[id]?.decoded = decoded
    }

    /// Records that the worker may hold a decoded image of the source.
    mutating func record(source: String, of id: ID) {
        entries[id]?.sources.removeAll { $0 == source }
        entries[id]?.sources.append(source)
        if entries[id]?.sources.count ?? 0 > Self.maxSources { entries[id]?.sources.removeFirst() }
    }

    mutating func release(_ id: ID, needsReplacement: Bool) {
        entries[id]?.isBusy = false
        entries[id]?.idleSince = .now
        entries[id]?.needsReplacement = needsReplacement
    }

    /// Lets a worker that is due for replacement have no further job.
    mutating func spend(_ id: ID) { entries[id]?.isSpent = true }

    @discardableResult
    mutating func remove(_ id: ID) -> ChildProcess? {
        guard let entry = entries.removeValue(forKey: id) else { return nil }
        retired.hits += entry.decoded.hits
        retired.misses += entry.decoded.misses
        retiredMilliseconds += entry.process.processorMilliseconds
        return entry.process
    }

    mutating func removeAll() -> [ChildProcess] { entries.keys.compactMap { remove($0) } }

    /// The number of workers that must exist: the workers in use and a spare, but at most `limit`.
    func target(limit: Int) -> Int {
        min(limit, entries.values.count { $0.isBusy || $0.planned != nil } + 1)
    }

    /// Workers that are not due for replacement.
    var lastingCount: Int { entries.values.count { !$0.needsReplacement } }

    /// An idle worker that is due for replacement.
    var idleReplaceable: ID? { entries.first { !$0.value.isBusy && $0.value.needsReplacement }?.key }

    /// The least recently used worker that has been idle since that time or earlier and holds nothing.
    func unused(since time: ContinuousClock.Instant) -> ID? {
        let unused = entries.filter { _, entry in
            !entry.isBusy && entry.planned == nil && entry.decoded.bytes == 0 && entry.idleSince <= time
        }
        return unused.min { $0.value.idleSince < $1.value.idleSince }?.key
    }

    mutating func removeExited() -> [Entry] {
        let exited = entries.filter { !$0.value.isBusy && $0.value.process.exitStatus != nil }
        for id in exited.keys { remove(id) }
        return Array(exited.values)
    }
}

extension WorkerTable.Entry {
    func mayHold(_ source: String) -> Bool { sources.contains(source) }

    /// A new source goes to the idle worker of the lowest rank.
    fileprivate func rank(_ id: WorkerTable.ID) -> (Int, Int, Int) {
        ((needsReplacement ? 1 : 0) + (planned == nil ? 0 : 2), decoded.bytes, id)
    }
}

extension DecodedStatistics {
    fileprivate mutating func add(_ other: DecodedStatistics) {
        entries += other.entries
        bytes += other.bytes
        hits += other.hits
        misses += other.misses
    }
}
