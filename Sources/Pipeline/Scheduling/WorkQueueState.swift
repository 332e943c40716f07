import Synchronization

/// The state that a ``WorkQueue``'s lock protects. Its methods assume that the lock is held.
struct WorkQueueState {
    /// Passes the result of a job on, once the job no longer counts as running.
    typealias Delivery = () -> Void

    /// A job and the functions that weigh, set aside, run and refuse it.
    struct Item: Sendable {
        let urgency: Urgency
        let isCancelled: CancellationFlag
        /// Weighs the job, and runs it if the memory set aside for it suffices; the result is nil if not.
        let weigh: @Sendable (_ allowedBytes: Int) -> (weight: JobWeight, deliver: Delivery?)
        let setAside: @Sendable () -> Void
        let run: @Sendable () -> Delivery
        let refuse: @Sendable (PipelineError) -> Void
    }

    /// A refused item and its error.
    typealias Refused = (item: Item, error: PipelineError)

    /// The next step of a thread.
    enum Step {
        case work(Int, Item)
        /// Weigh the job. That much memory is set aside for it.
        case weigh(Int, Item, allowedBytes: Int)
        case idle
        case closed
    }

    var admission: Admission
    /// The items of the waiting jobs. A thread that takes a job takes its item.
    var items: [Int: Item] = [:]
    private(set) var refusals: [Admission.Refusal: Int] = [:]
    /// The time that refused jobs had waited.
    private(set) var refusedWaits: [Admission.Refusal: Duration] = [:]
    private var lastNumber = 0
    /// The number of jobs whose source is being fetched.
    var reserved = 0
    /// The number of threads that wait for work.
    var idle = 0
    var isClosed = false

    init(_ capacity: Admission.Capacity) {
        admission = Admission(capacity: capacity)
    }

    /// Why a job that is about to be fetched for would be refused; nil if it would be admitted.
    mutating func refusal(of urgency: Urgency, at now: ContinuousClock.Instant) -> Admission.Refusal? {
        admission.refusal(of: urgency, behind: reserved, at: now)
    }

    /// Counts a refusal and returns its error.
    mutating func refused(_ refusal: Admission.Refusal, after wait: Duration = .zero) -> PipelineError {
        refusals[refusal, default: 0] += 1
        refusedWaits[refusal, default: .zero] += wait
        return .overloaded(retryAfterSeconds: admission.retryAfterSeconds)
    }

    /// Enqueues a job.
    ///
    /// - Returns: its number, and the job that is refused for it, or the job itself if it is refused.
    mutating func admit(_ item: Item, at now: ContinuousClock.Instant) -> (number: Int, Refused?) {
        lastNumber += 1
        if isClosed { return (lastNumber, (item, .cancelled)) }
        let outcome = admission.admit(Admission.Job(number: lastNumber, urgency: item.urgency), at: now)
        if case .refused(let refusal) = outcome { return (lastNumber, (item, refused(refusal))) }
        items[lastNumber] = item
        item.urgency.setQueued(true)
        guard case .displaces(let victim) = outcome else { return (lastNumber, nil) }
        return (lastNumber, refuse(victim, .displaced))
    }

    mutating func takeNext(at now: ContinuousClock.Instant) -> (Step, expired: [Refused]) {
        let expired = admission.removeExpired(at: now).compactMap { refuse($0, .expired) }
        switch admission.next() {
        case .run(let job): return (.work(job.number, start(job)), expired)
        case .weigh(let job): return (.weigh(job.number, start(job), allowedBytes: job.allowedBytes), expired)
        case .nothing:
            if isClosed { return (.closed, expired) }
            idle += 1
            return (.idle, expired)
        }
    }

    /// Decides on a job whose weight is now known: it runs, waits again, or is refused because it was canceled.
    mutating func weighed(_ item: Item, _ number: Int, _ weight: JobWeight) -> (runs: Bool, refused: Item?) {
        if isClosed || item.isCancelled.isRaised {
            admission.abandon(number)
            return (false, item)
        }
        if admission.weighed(number, weight) { return (true, nil) }
        items[number] = item
        item.urgency.setQueued(true)
        return (false, nil)
    }

    mutating func remove(_ number: Int) -> Item? {
        admission.remove(number).flatMap { items.removeValue(forKey: $0.number) }
    }

    mutating func close() -> [Item] {
        isClosed = true
        return admission.removeAll().compactMap { items.removeValue(forKey: $0.number) }
    }

    private mutating func start(_ job: Admission.Job) -> Item {
        guard let item = items.removeValue(forKey: job.number) else { preconditionFailure() }
        job.urgency.setQueued(false)
        return item
    }

    private mutating func refuse(_ job: Admission.Job, _ refusal: Admission.Refusal) -> Refused? {
        job.urgency.setQueued(false)
        return items.removeValue(forKey: job.number).map { ($0, refused(refusal, after: job.urgency.timeQueued)) }
    }
}

/// A flag that one thread raises and another polls.
final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    var isRaised: Bool { flag.load(ordering: .relaxed) }

    func raise() { flag.store(true, ordering: .relaxed) }
}
