import DarkroomMachine
import DarkroomRequests
import DarkroomTransforms
import DarkroomWaiting
import Dispatch
import Foundation
import Synchronization

/// A fixed number of pixel threads, and a spare for a long job, with a bounded queue. ``Admission`` decides on the
/// order of jobs and on refusals.
///
/// A job whose deadline would pass in the queue is refused at once, so that the client can retry elsewhere.
final class WorkQueue: Sendable {
    private typealias Item = WorkQueueState.Item

    private let threads: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<WorkQueueState>
    private let signal = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - workers: the number of threads without the spare, at least 1.
    ///   - depth: the number of jobs that may wait for each thread.
    ///   - memoryBudgetBytes: the memory that running jobs may take together.
    ///   - now: the clock of deadlines.
    init(
        workers: Int, depth: Int, memoryBudgetBytes: Int = .max,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        let workers = max(workers, 1)
        threads = workers + 1
        self.now = now
        state = Mutex(
            WorkQueueState(
                Admission.Capacity(
                    threads: workers, queueLength: workers * max(depth, 0),
                    memoryBudgetBytes: max(memoryBudgetBytes, 1))))
        for number in 0..<threads {
            let thread = Thread { [self] in runLoop() }
            thread.name = "darkroom-pixels-\(number)"
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    var load: PipelineLoad {
        state.withLock { state in
            PipelineLoad(
                waitingCount: state.admission.waiting.count, waitingBytes: state.admission.waiting.bytes,
                runningBytes: state.admission.runningBytes, budgetBytes: state.admission.capacity.memoryBudgetBytes,
                refusals: Admission.Refusal.allCases.map { refusal in
                    let refused = state.refusals[refusal] ?? (0, .zero)
                    return (refusal.rawValue, refused.count, refused.waited)
                })
        }
    }

    /// Whether jobs of clients wait for a thread.
    var hasWaitingClients: Bool {
        state.withLock { state in
            Priority.allCases.contains { $0 > .background && state.admission.waiting.load(at: $0).count > 0 }
        }
    }

    /// Counts a refusal, and returns its error.
    func refuse(_ refusal: Admission.Refusal, after wait: Duration = .zero) -> PipelineError {
        state.withLock { $0.refused(refusal, after: wait) }
    }

    /// Why a job of this urgency would be refused now; nil if it would be admitted.
    func refusal(of urgency: Urgency) -> Admission.Refusal? {
        let now = now()
        return state.withLock { $0.admission.refusal(of: urgency, behind: $0.reserved, at: now) }
    }

    /// Whether a new job with this time until its deadline may be refused.
    func mayRefuse(within timeout: Duration) -> Bool {
        state.withLock { $0.admission.mayRefuse(within: timeout, behind: $0.reserved) }
    }

    /// Fetches the source of a job that will be run here. If the job would be refused, nothing is fetched.
    func reserving<Value>(
        _ urgency: Urgency, _ fetch: () async throws(PipelineError) -> Value
    ) async throws(PipelineError) -> Value {
        let now = now()
        let error = state.withLock { state -> PipelineError? in
            if let refusal = state.admission.refusal(of: urgency, behind: state.reserved, at: now) {
                return state.refused(refusal)
            }
            state.reserved += 1
            return nil
        }
        if let error { throw error }
        defer { state.withLock { $0.reserved -= 1 } }
        return try await fetch()
    }

    /// Runs `work` on a pixel thread. The function passed to it returns true once the calling task is canceled. Work
    /// that is canceled before it starts never runs.
    ///
    /// - Parameters:
    ///   - weigh: estimates the cost of the work; called on a pixel thread first, with the same function and the memory
    ///     that is set aside for the work. If that suffices, it may do the work and return its value.
    ///   - setAside: called if the work does not run right after it was weighed.
    func run<Value: Sendable>(
        urgency: Urgency,
        weigh:
            @escaping @Sendable (
                _ allowedBytes: Int, _ interrupt: @escaping @Sendable () -> Bool
            ) throws(PipelineError) -> (JobWeight, Value?) = { _, _ in (.header, nil) },
        setAside: @escaping @Sendable () -> Void = {},
        _ work: @escaping @Sendable (@escaping @Sendable () -> Bool) throws(PipelineError) -> Value
    ) async throws(PipelineError) -> Value {
        if Task.isCancelled { throw .cancelled }
        let wait = Wait<Result<Value, PipelineError>>()
        let isCancelled = CancellationFlag()
        let item = Item(
            urgency: urgency, isCancelled: isCancelled,
            weigh: { allowedBytes in
                do throws(PipelineError) {
                    let (weight, value) = try weigh(allowedBytes) { isCancelled.isRaised }
                    return (weight, value.map { value in { wait.end(.success(value)) } })
                } catch {
                    return (.header, { wait.end(.failure(error)) })
                }
            },
            setAside: setAside,
            run: {
                let result = Result { () throws(PipelineError) in try work { isCancelled.isRaised } }
                return { wait.end(result) }
            },
            refuse: { wait.end(.failure($0)) })
        let now = now()
        let (number, refused) = state.withLock { $0.admit(item, at: now) }
        if let refused { refused.item.refuse(refused.error) }
        wake()
        return try await wait.answer { [self] in
            isCancelled.raise()
            state.withLock { $0.remove(number) }?.refuse(.cancelled)
        }.get()
    }

    /// Refuses the waiting jobs and ends the threads after the jobs that they run.
    func shutdown() {
        let waiting = state.withLock { $0.close() }
        for item in waiting { item.refuse(.cancelled) }
        for _ in 0..<threads { signal.signal() }
    }

    // MARK: Threads

    private func runLoop() {
        ThreadPriority.lower()
        while true {
            let now = now()
            let (step, expired) = state.withLock { $0.takeNext(at: now) }
            for (item, error) in expired { item.refuse(error) }
            switch step {
            case .work(let job, let item):
                // Another job may fit alongside this job.
                wake()
                if job.weight != nil || weigh(item, job.number, job.allowedBytes) { perform(item, job.number) }
            case .idle: signal.wait()
            case .closed: return
            }
        }
    }

    /// - Returns: whether the job is to be performed now.
    private func weigh(_ item: Item, _ number: Int, _ allowedBytes: Int) -> Bool {
        let start = ContinuousClock.now
        let (weight, deliver) = item.weigh(allowedBytes)
        if let deliver {
            finish(item, number, weight, since: start)
            deliver()
            return false
        }
        let (runs, refused) = state.withLock { $0.weighed(item, number, weight) }
        if !runs { item.setAside() }
        // A long job leaves its thread to another job.
        if runs, weight.isLong { wake() }
        refused?.refuse(.cancelled)
        return runs
    }

    private func perform(_ item: Item, _ number: Int) {
        let start = ContinuousClock.now
        let deliver = item.run()
        finish(item, number, since: start)
        deliver()
    }

    private func finish(_ item: Item, _ number: Int, _ weight: JobWeight? = nil, since start: ContinuousClock.Instant) {
        let took = start.duration(to: .now)
        state.withLock {
            $0.admission.finish(
                number, weight, tookSeconds: took / .seconds(1), wasCompleted: !item.isCancelled.isRaised)
        }
    }

    /// Wakes an idle thread if there is work. A thread that has done its job looks for the next one by itself.
    private func wake() {
        let isNeeded = state.withLock { state in
            guard state.idle > 0, state.admission.waiting.count > 0, state.admission.freeThreads > 0 else {
                return false
            }
            state.idle -= 1
            return true
        }
        if isNeeded { signal.signal() }
    }
}

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

    typealias Refused = (item: Item, error: PipelineError)

    /// The next step of a thread.
    enum Step {
        /// Run the job, once it is weighed.
        case work(Admission.Job, Item)
        case idle
        case closed
    }

    var admission: Admission
    /// The items of the waiting jobs. A thread that takes a job takes its item.
    var items: [Int: Item] = [:]
    /// The number of refused jobs, and the time that they had waited.
    private(set) var refusals: [Admission.Refusal: (count: Int, waited: Duration)] = [:]
    private var lastNumber = 0
    /// The number of jobs whose source is being fetched.
    var reserved = 0
    /// The number of threads that wait for work.
    var idle = 0
    var isClosed = false

    init(_ capacity: Admission.Capacity) {
        admission = Admission(capacity: capacity)
    }

    /// Counts a refusal and returns its error.
    mutating func refused(_ refusal: Admission.Refusal, after wait: Duration = .zero) -> PipelineError {
        refusals[refusal, default: (0, .zero)].count += 1
        refusals[refusal, default: (0, .zero)].waited += wait
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
        case .run(let job), .weigh(let job): return (.work(job, start(job)), expired)
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
