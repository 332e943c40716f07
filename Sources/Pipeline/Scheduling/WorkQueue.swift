import DarkroomMachine
import DarkroomTransforms
import Dispatch
import Foundation
import Synchronization

/// A fixed number of threads for pixels, and a bounded queue in front of them. Who goes first and who is refused says `Admission`.
///
/// Whoever would wait in vain is refused at once: a request that would only wait for its timeout helps nobody.
final class WorkQueue: Sendable {
    private typealias Item = WorkQueueState.Item

    private let workers: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    private let state: Mutex<WorkQueueState>
    private let signal = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - workers: threads, at least 1.
    ///   - depth: pieces of work that may wait for each of them.
    ///   - memoryBudgetBytes: what all that runs may take together.
    ///   - now: the clock of deadlines.
    init(
        workers: Int, depth: Int, memoryBudgetBytes: Int = .max,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        self.workers = max(workers, 1)
        self.now = now
        state = Mutex(
            WorkQueueState(
                Admission.Room(
                    threads: self.workers, places: self.workers * max(depth, 0),
                    memoryBudgetBytes: max(memoryBudgetBytes, 1))))
        for number in 0..<self.workers {
            let thread = Thread { [self] in serve() }
            thread.name = "darkroom-pixels-\(number)"
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    var load: PipelineLoad {
        state.withLock { state in
            PipelineLoad(
                waitingCount: state.admission.waiting.count, waitingBytes: state.admission.waitingBytes,
                runningBytes: state.admission.runningBytes, budgetBytes: state.admission.room.memoryBudgetBytes,
                refusals: Admission.Refusal.allCases.map { ($0.rawValue, state.refusals[$0] ?? 0) })
        }
    }

    /// Counts work as refused whose time was up while it waited here.
    func noteExpiry() -> PipelineError { state.withLock { $0.refused(.expired) } }

    /// Why work of that urgency would be refused at this moment; nil = it has a chance.
    func refusal(of urgency: Urgency) -> PipelineError? {
        let now = now()
        return state.withLock { $0.refusal(of: urgency, at: now) }
    }

    /// Fetches what work needs that is to come here. Where it would be refused here anyway, nothing is fetched.
    func expecting<Value>(
        _ urgency: Urgency, _ fetch: () async throws(PipelineError) -> Value
    ) async throws(PipelineError) -> Value {
        let now = now()
        let error = state.withLock { state -> PipelineError? in
            if let error = state.refusal(of: urgency, at: now) { return error }
            state.expected += 1
            return nil
        }
        if let error { throw error }
        defer { state.withLock { $0.expected -= 1 } }
        return try await fetch()
    }

    /// Runs `work` on a pixel thread. The function that it is handed turns true when the calling task is cancelled; work that has not begun
    /// by then never does.
    ///
    /// - Parameter weigh: tells what the work will take; called on a pixel thread before it, with the same function.
    func run<Value: Sendable>(
        urgency: Urgency, weigh: @escaping @Sendable (@escaping @Sendable () -> Bool) -> JobWeight = { _ in .header },
        _ work: @escaping @Sendable (@escaping @Sendable () -> Bool) throws(PipelineError) -> Value
    ) async throws(PipelineError) -> Value {
        let number = state.withLock { $0.nextNumber() }
        let isCancelled = CancellationFlag()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, PipelineError>, Never>) in
                let item = Item(
                    urgency: urgency, isCancelled: isCancelled, weigh: { weigh { isCancelled.isRaised } },
                    run: {
                        continuation.resume(
                            returning: Result { () throws(PipelineError) in try work { isCancelled.isRaised } })
                    },
                    refuse: { continuation.resume(returning: .failure($0)) })
                admit(item, number)
            }
        } onCancel: {
            isCancelled.raise()
            drop(number)
        }
        return try outcome.get()
    }

    /// Refuses what waits and lets the threads end after the work they have.
    func shutdown() {
        let waiting = state.withLock { $0.close() }
        for item in waiting { item.refuse(.cancelled) }
        for _ in 0..<workers { signal.signal() }
    }

    private func admit(_ item: Item, _ number: Int) {
        let now = now()
        // `drop` takes this lock too, so a cancellation is seen either here or there.
        let refused = state.withLock { state in
            state.admit(item, Admission.Job(number: number, urgency: item.urgency), at: now)
        }
        if let refused { refused.item.refuse(refused.error) }
        wake()
    }

    private func drop(_ number: Int) {
        let dropped = state.withLock { $0.drop(number) }
        dropped?.refuse(.cancelled)
    }

    // MARK: Threads

    /// What each thread does for life.
    private func serve() {
        ThreadPriority.lower()
        while true {
            let now = now()
            let (step, expired) = state.withLock { $0.takeUp(at: now) }
            for (item, error) in expired { item.refuse(error) }
            switch step {
            case .work(let number, let item, let isWeighed):
                // What is left may fit beside this.
                wake()
                if isWeighed || weigh(item, number) { perform(item, number) }
            case .idle: signal.wait()
            case .closed: return
            }
        }
    }

    private func weigh(_ item: Item, _ number: Int) -> Bool {
        let weight = item.weigh()
        let (runs, refused) = state.withLock { $0.weighed(item, number, weight) }
        refused?.refuse(.cancelled)
        return runs
    }

    private func perform(_ item: Item, _ number: Int) {
        let start = ContinuousClock.now
        item.run()
        let took = start.duration(to: .now)
        state.withLock {
            $0.admission.finish(number, tookSeconds: took / .seconds(1), isWhole: !item.isCancelled.isRaised)
        }
        wake()
    }

    /// Lets another thread look for work.
    private func wake() {
        let isNeeded = state.withLock { state in
            guard state.idle > 0, !state.admission.waiting.isEmpty else { return false }
            state.idle -= 1
            return true
        }
        if isNeeded { signal.signal() }
    }
}
