import DarkroomTransforms

/// The workers that are ready or busy, and which of them gets a job.
struct Roster {
    struct Member {
        let process: WorkerProcess
        fileprivate(set) var jobs = 0
        fileprivate(set) var isBusy = false
        /// Whether it shall be replaced as soon as there is another.
        var isWornOut = false
        /// What it keeps.
        var decoded = DecodedStatistics()
        /// Requests without a job, for when it is no longer busy.
        var postponed: [WorkerRequest] = []
        /// Sources that it may have decoded pictures of, the latest last.
        fileprivate var sources: [String] = []
    }

    typealias Number = Int

    /// Sources that are remembered of a worker. It has seldom room for more.
    private static let maxSources = 64
    private static let maxPostponed = 64

    private var members: [Number: Member] = [:]
    private var lastNumber = 0
    /// What workers that are gone have done for the decoded cache.
    private var formerly = DecodedStatistics()

    var count: Int { members.count }

    var processes: [WorkerProcess] { members.values.map(\.process) }

    /// Of all workers, those gone included.
    var decoded: DecodedStatistics {
        members.values.reduce(into: formerly) { sum, member in sum.add(member.decoded) }
    }

    /// Those that have a job.
    var busy: [WorkerProcess] { members.values.filter(\.isBusy).map(\.process) }

    subscript(number: Number) -> Member? { members[number] }

    mutating func add(_ process: WorkerProcess) {
        lastNumber += 1
        members[lastNumber] = Member(process: process)
    }

    /// The idle worker that has the source decoded; else the one with the most room for it. It is busy from now on.
    mutating func take(for source: String?) -> Number? {
        let idle = members.filter { !$0.value.isBusy }
        let hot = source.flatMap { source in idle.first { $0.value.sources.contains(source) } }
        let chosen = hot ?? idle.min { $0.value.rank($0.key) < $1.value.rank($1.key) }
        guard let number = chosen?.key else { return nil }
        members[number]?.isBusy = true
        members[number]?.jobs += 1
        return number
    }

    /// All idle workers for which that holds are busy from now on.
    mutating func takeAll(where isMeant: (Member) -> Bool) -> [Number] {
        let numbers = members.filter { !$0.value.isBusy && isMeant($0.value) }.map(\.key)
        for number in numbers { members[number]?.isBusy = true }
        return numbers
    }

    /// Has the workers that are busy do it later.
    mutating func postpone(_ request: WorkerRequest, where isMeant: (Member) -> Bool) {
        for (number, member) in members where member.isBusy && isMeant(member) {
            // So many that dropping everything is less work.
            let isFull = member.postponed.count >= Self.maxPostponed
            members[number]?.postponed = isFull ? [.shrink(fraction: 0)] : member.postponed + [request]
        }
    }

    mutating func postpone(_ request: WorkerRequest, to number: Number) {
        members[number]?.postponed.append(request)
    }

    /// What the worker has to do before it is idle again, once.
    mutating func takePostponed(of number: Number) -> [WorkerRequest] {
        defer { members[number]?.postponed = [] }
        return members[number]?.postponed ?? []
    }

    mutating func note(_ decoded: DecodedStatistics, of number: Number) {
        members[number]?.decoded = decoded
    }

    /// The worker may have kept a decoded picture of the source.
    mutating func note(source: String, of number: Number) {
        members[number]?.sources.removeAll { $0 == source }
        members[number]?.sources.append(source)
        if members[number]?.sources.count ?? 0 > Self.maxSources { members[number]?.sources.removeFirst() }
    }

    mutating func giveBack(_ number: Number, isWornOut: Bool) {
        members[number]?.isBusy = false
        members[number]?.isWornOut = isWornOut
    }

    @discardableResult
    mutating func remove(_ number: Number) -> WorkerProcess? {
        guard let member = members.removeValue(forKey: number) else { return nil }
        formerly.hits += member.decoded.hits
        formerly.misses += member.decoded.misses
        return member.process
    }

    mutating func removeAll() -> [WorkerProcess] { members.keys.compactMap { remove($0) } }

    /// An idle worker that has done its share.
    var wornOut: Number? { members.first { !$0.value.isBusy && $0.value.isWornOut }?.key }

    /// Whether any has.
    var hasWornOut: Bool { members.contains { $0.value.isWornOut } }

    /// Takes out the idle workers that have ended.
    mutating func removeEnded() -> [WorkerProcess] {
        let ended = members.filter { !$0.value.isBusy && $0.value.process.endingSoFar != nil }
        return ended.keys.compactMap { remove($0) }
    }
}

extension Roster.Member {
    func mayKeep(_ source: String) -> Bool { sources.contains(source) }

    /// Of two idle workers the lesser gets a new source.
    fileprivate func rank(_ number: Roster.Number) -> (Int, Int, Int) { (isWornOut ? 1 : 0, decoded.bytes, number) }
}

extension DecodedStatistics {
    fileprivate mutating func add(_ other: DecodedStatistics) {
        entries += other.entries
        bytes += other.bytes
        hits += other.hits
        misses += other.misses
    }
}
