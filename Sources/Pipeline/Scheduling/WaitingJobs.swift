import DarkroomRequests
import DarkroomTransforms
import DarkroomWaiting
import Synchronization

struct WaitingJobs {
    /// A job with the values that decide on its place.
    final class Member: WaitingLineMember {
        fileprivate(set) var job: Admission.Job
        fileprivate(set) var rating: Urgency.Rating
        /// The job's least served client.
        fileprivate(set) var client = ""
        /// The seconds that ``client`` was served, or ``FairShares/floor`` if that is higher by now.
        fileprivate(set) var served = 0.0
        /// When half of the job's time has passed.
        fileprivate(set) var halftime: ContinuousClock.Instant?

        let number: Int
        var level: Priority { rating.level }

        fileprivate init(_ job: Admission.Job, _ shares: FairShares) {
            self.job = job
            number = job.number
            rating = job.urgency.rating
            update(shares)
        }

        fileprivate func update(_ shares: FairShares) {
            rating = job.urgency.rating
            halftime = rating.deadline.map { $0 - job.arrivedAt.duration(to: $0) / 2 }
            updateClient(shares)
        }

        fileprivate func updateClient(_ shares: FairShares) {
            client = shares.leastServed(of: rating.clients)
            served = shares.served(client)
        }
    }

    private let capacity: Admission.Capacity
    private(set) var line = WaitingLine<Member>()
    /// By priority.
    private var loads = Array(repeating: WaitingLoad(), count: Priority.allCases.count)

    init(capacity: Admission.Capacity) {
        self.capacity = capacity
    }

    var count: Int { line.count }

    /// The oldest first.
    var jobs: [Admission.Job] { line.members.map(\.job).sorted { $0.number < $1.number } }

    /// The memory of the jobs that have been weighed.
    var bytes: Int { loads.reduce(0) { $0 + $1.bytes } }

    /// The jobs that were weighed and did not fit.
    var weighed: [Member] {
        loads.contains(where: \.hasWeighed) ? line.members.filter { $0.job.weight != nil } : []
    }

    func load(at level: Priority) -> WaitingLoad { loads[level.rawValue] }

    /// The loads of the clients at a priority, each with the seconds that the client was served.
    func loadsOfClients(at level: Priority) -> [String: (load: WaitingLoad, served: Double)] {
        var loads: [String: (load: WaitingLoad, served: Double)] = Dictionary(minimumCapacity: count)
        for member in line.members where member.level == level {
            loads[member.client, default: (WaitingLoad(), member.served)].load.add(member.job.weight, capacity)
        }
        return loads
    }

    mutating func insert(_ job: Admission.Job, _ shares: FairShares) {
        let member = Member(job, shares)
        loads[member.level.rawValue].add(job.weight, capacity)
        line.append(member)
    }

    mutating func remove(_ number: Int) -> Admission.Job? {
        line.members.firstIndex { $0.number == number }.map { remove(at: $0) }
    }

    mutating func remove(at index: Int) -> Admission.Job {
        let member = line.remove(at: index)
        loads[member.level.rawValue].remove(member.job.weight, capacity)
        return member.job
    }

    /// Counts that another job overtook this job while it was first in line.
    func recordOvertaking(of member: Member) { member.job.timesOvertaken += 1 }

    /// Reads the urgencies that have risen.
    mutating func updateUrgencies(_ shares: FairShares) {
        for member in line.members where member.rating.revision != member.job.urgency.revision {
            loads[member.level.rawValue].remove(member.job.weight, capacity)
            line.change(member) { member.update(shares) }
            loads[member.level.rawValue].add(member.job.weight, capacity)
        }
    }

    /// Reads the share of a client, which has changed. ``FairShares/floor`` may have changed too, and with it the least
    /// served of several clients.
    mutating func shareChanged(of client: String, _ shares: FairShares) {
        for member in line.members where member.client == client || member.rating.clients.count > 1 {
            line.change(member) { member.updateClient(shares) }
        }
    }
}

/// The sum of the work of waiting jobs, in units that stay valid while the estimated speed of work changes.
struct WaitingLoad {
    private(set) var count = 0
    private(set) var bytes = 0
    /// The number of jobs whose weight is unknown.
    private var unweighed = 0
    /// The work of the weighed jobs, as shares of the whole queue's time.
    private var work = 0.0

    var hasWeighed: Bool { count > unweighed }

    mutating func add(_ weight: JobWeight?, _ capacity: Admission.Capacity) {
        count += 1
        guard let weight else {
            unweighed += 1
            return
        }
        bytes += weight.bytes
        work += Self.workOfAll(weight, capacity)
    }

    mutating func remove(_ weight: JobWeight?, _ capacity: Admission.Capacity) {
        count -= 1
        guard let weight else {
            unweighed -= 1
            return
        }
        bytes -= weight.bytes
        // Rounding errors must not add up.
        work = count == unweighed ? 0 : work - Self.workOfAll(weight, capacity)
    }

    /// The seconds until all threads together have done this work.
    func seconds(_ throughput: ThroughputEstimate, _ capacity: Admission.Capacity) -> Double {
        Double(unweighed) * throughput.seconds(nil) / Double(capacity.threads)
            + throughput.seconds(JobWeight(bytes: 0, work: work))
    }

    /// The work of a job divided by the threads, or more if it takes a larger part of the memory budget.
    private static func workOfAll(_ weight: JobWeight, _ capacity: Admission.Capacity) -> Double {
        let ofMemory = min(Double(weight.bytes) / Double(capacity.memoryBudgetBytes), 1)
        return weight.work * max(1 / Double(capacity.threads), ofMemory)
    }
}

/// The urgency of shared work: the highest priority and the latest deadline of its waiters so far, and their clients.
/// It only ever rises.
final class Urgency: Sendable {
    /// The values that decide on the place of a job in the queue.
    struct Rating {
        let level: Priority
        let clients: [String]
        let deadline: ContinuousClock.Instant?
        /// The ``Urgency/revision`` of these values.
        let revision: Int
    }

    private struct State {
        var level: Priority
        var clients: [String]
        var deadline: ContinuousClock.Instant?
        /// When it entered the pixel queue; nil if it is not in the queue.
        var queuedAt: ContinuousClock.Instant?
        /// The time it spent in the queue before.
        var waited = Duration.zero
        /// The work that this work waits for.
        var dependencies: [Urgency] = []
    }

    /// The maximum number of clients that are tracked for one piece of work.
    private static let maxClients = 8

    private let state: Mutex<State>
    /// Called after clients have joined the work.
    private let onJoin: @Sendable () -> Void
    private let changes = Atomic(0)

    /// - Parameters:
    ///   - client: the client that the work is for; the empty string counts as one client.
    ///   - deadline: when the result is no longer needed; nil = never.
    init(_ level: Priority, client: String = "", deadline: ContinuousClock.Instant? = nil) {
        state = Mutex(State(level: level, clients: [client], deadline: deadline))
        onJoin = {}
    }

    private init(_ state: State, onJoin: @escaping @Sendable () -> Void) {
        self.state = Mutex(state)
        self.onJoin = onJoin
    }

    var level: Priority { state.withLock(\.level) }

    /// The clients that wait for the work; at least one.
    var clients: [String] { state.withLock(\.clients) }

    /// The latest deadline of the waiters; nil = none.
    var deadline: ContinuousClock.Instant? { state.withLock(\.deadline) }

    /// The number of times that the rating has changed. Read without a lock.
    var revision: Int { changes.load(ordering: .acquiring) }

    var rating: Rating {
        state.withLock { state in
            Rating(level: state.level, clients: state.clients, deadline: state.deadline, revision: revision)
        }
    }

    /// Whether this work, or work that it waits for, is in the pixel queue. Also true for work that was removed from
    /// the queue because its last waiter left.
    var isQueued: Bool {
        let (isQueued, dependencies) = state.withLock { ($0.queuedAt != nil, $0.dependencies) }
        return isQueued || dependencies.contains(where: \.isQueued)
    }

    /// The time that this work, or work that it waits for, has spent in the pixel queue so far.
    var timeQueued: Duration {
        let (waited, dependencies) = state.withLock { state in
            (state.waited + (state.queuedAt?.duration(to: .now) ?? .zero), state.dependencies)
        }
        return dependencies.reduce(waited) { max($0, $1.timeQueued) }
    }

    func setQueued(_ isQueued: Bool) {
        state.withLock { state in
            state.waited += state.queuedAt?.duration(to: .now) ?? .zero
            state.queuedAt = isQueued ? .now : nil
        }
    }

    /// Raises the priority of this work and of the work that it waits for.
    func raise(to level: Priority) { raise { $0.level = max($0.level, level) } }

    private func raise(_ change: (inout State) -> Void) {
        let (dependencies, hasJoined) = state.withLock { state in
            let before = state.clients.count
            change(&state)
            changes.add(1, ordering: .releasing)
            return (state.dependencies, state.clients.count > before)
        }
        for dependency in dependencies { dependency.raise(change) }
        if hasJoined { onJoin() }
    }

    /// Makes this work wait for other work, which inherits its urgency (priority donation).
    func donate(to other: Urgency) {
        let mine = state.withLock { state in
            state.dependencies.append(other)
            return state
        }
        other.raise { state in
            state.level = max(state.level, mine.level)
            let room = Self.maxClients - state.clients.count
            state.clients += mine.clients.filter { !state.clients.contains($0) }.prefix(room)
            if let deadline = state.deadline { state.deadline = mine.deadline.map { max($0, deadline) } }
        }
    }

    func makeDependency() -> Urgency { makeDependency(onJoin: {}) }

    /// Creates the urgency of work that this work waits for.
    ///
    /// - Parameter onJoin: called after further clients have joined that work.
    func makeDependency(onJoin: @escaping @Sendable () -> Void) -> Urgency {
        let dependency = state.withLock { state in
            Urgency(State(level: state.level, clients: state.clients, deadline: state.deadline), onJoin: onJoin)
        }
        donate(to: dependency)
        return dependency
    }
}

/// Runs work once for all callers that request the same key at the same time. Shared work has the highest urgency of
/// its callers.
typealias Coalescer<Key: Hashable & Sendable, Value: Sendable> =
    SingleFlight<Key, Result<Value, PipelineError>, Urgency>

extension SingleFlight where Traits == Urgency {
    /// Returns the value for a key, from work in progress or by starting `work`, and whether another caller had started
    /// the work. Shared work inherits the urgency of each caller, also when it rises later.
    func value<Product>(
        for key: Key, urgency: Urgency, deadline: Deadline? = nil,
        work: @escaping @Sendable (Urgency) async throws(PipelineError) -> Product
    ) async throws(PipelineError) -> (value: Product, isShared: Bool) where Value == Result<Product, PipelineError> {
        let answer = await value(
            for: key, deadline: deadline, traits: urgency.makeDependency, join: urgency.donate(to:)
        ) { urgency in
            await Result { () async throws(PipelineError) in try await work(urgency) }
        }
        guard let answer else { throw .cancelled }
        return (try answer.value.get(), answer.isShared)
    }
}
