import Synchronization

/// What the lock of a `WorkQueue` guards; its methods assume that it is held.
struct WorkQueueState {
    /// What is done with a piece of work.
    struct Item: Sendable {
        let urgency: Urgency
        let isCancelled: CancellationFlag
        let weigh: @Sendable () -> JobWeight
        let run: @Sendable () -> Void
        let refuse: @Sendable (PipelineError) -> Void
    }

    /// An item that is sent away, and why.
    typealias Refused = (item: Item, error: PipelineError)

    /// What a thread is to do.
    enum Step {
        case work(Int, Item, isWeighed: Bool)
        case idle
        case closed
    }

    var admission: Admission
    /// Of what waits; a thread that takes one up has it.
    var items: [Int: Item] = [:]
    private(set) var refusals: [Admission.Refusal: Int] = [:]
    private var lastNumber = 0
    /// Work whose source is being fetched.
    var expected = 0
    /// Threads that wait to be woken.
    var idle = 0
    var isClosed = false

    init(_ room: Admission.Room) {
        admission = Admission(room: room)
    }

    mutating func nextNumber() -> Int {
        lastNumber += 1
        return lastNumber
    }

    /// Counts and says why work would be refused that is on its way here.
    mutating func refusal(of urgency: Urgency, at now: ContinuousClock.Instant) -> PipelineError? {
        admission.refusal(of: urgency, behind: expected, at: now).map { refused($0) }
    }

    /// Counts a refusal, and says it.
    mutating func refused(_ refusal: Admission.Refusal) -> PipelineError {
        refusals[refusal, default: 0] += 1
        return .overloaded(retryAfterSeconds: admission.retryAfterSeconds)
    }

    /// Puts work in line. Who has to go for it, or it itself, is given back.
    mutating func admit(_ item: Item, _ job: Admission.Job, at now: ContinuousClock.Instant) -> Refused? {
        if isClosed || item.isCancelled.isRaised { return (item, .cancelled) }
        let arrival = admission.arrive(job, at: now)
        if case .refused(let refusal) = arrival { return (item, refused(refusal)) }
        items[job.number] = item
        job.urgency.noteQueued(true)
        guard case .displaces(let victim) = arrival else { return nil }
        return remove(victim, .displaced)
    }

    mutating func takeUp(at now: ContinuousClock.Instant) -> (Step, expired: [Refused]) {
        let expired = admission.removeExpired(at: now).compactMap { remove($0, .expired) }
        switch admission.next() {
        case .run(let job): return (begin(job, isWeighed: true), expired)
        case .weigh(let job): return (begin(job, isWeighed: false), expired)
        case .nothing:
            if isClosed { return (.closed, expired) }
            idle += 1
            return (.idle, expired)
        }
    }

    /// Whether work runs that turned out to be so heavy. Else it waits again, or is given back where nobody wants it any more.
    mutating func weighed(_ item: Item, _ number: Int, _ weight: JobWeight) -> (runs: Bool, refused: Item?) {
        if isClosed || item.isCancelled.isRaised {
            admission.abandon(number)
            return (false, item)
        }
        if admission.weighed(number, weight) { return (true, nil) }
        items[number] = item
        item.urgency.noteQueued(true)
        return (false, nil)
    }

    mutating func drop(_ number: Int) -> Item? {
        admission.drop(number).flatMap { items.removeValue(forKey: $0.number) }
    }

    mutating func close() -> [Item] {
        isClosed = true
        return admission.removeAll().compactMap { items.removeValue(forKey: $0.number) }
    }

    private mutating func begin(_ job: Admission.Job, isWeighed: Bool) -> Step {
        guard let item = items.removeValue(forKey: job.number) else { preconditionFailure() }
        job.urgency.noteQueued(false)
        return .work(job.number, item, isWeighed: isWeighed)
    }

    private mutating func remove(_ job: Admission.Job, _ refusal: Admission.Refusal) -> Refused? {
        job.urgency.noteQueued(false)
        return items.removeValue(forKey: job.number).map { ($0, refused(refusal)) }
    }
}

/// A flag that one side raises and the other side polls.
final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    var isRaised: Bool { flag.load(ordering: .relaxed) }

    func raise() { flag.store(true, ordering: .relaxed) }
}
