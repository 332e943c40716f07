import Dispatch
import Foundation
import Synchronization

/// A fixed number of threads for pixels, and a bounded queue in front of them.
///
/// Whoever finds the queue full is refused at once: a request that would only wait for its timeout helps nobody.
final class WorkQueue: Sendable {
    private struct Item {
        let number: Int
        let urgency: Urgency
        let run: @Sendable () -> Void
        let refuse: @Sendable (PipelineError) -> Void
    }

    private struct State {
        var waiting: [Item] = []
        var running = 0
        var lastNumber = 0
        var isClosed = false
        /// A moving mean of how long work takes, for an honest `Retry-After`.
        var meanSeconds = 0.1
    }

    private let workers: Int
    private let capacity: Int
    private let state = Mutex(State())
    private let signal = DispatchSemaphore(value: 0)

    /// - Parameters:
    ///   - workers: threads, at least 1.
    ///   - depth: pieces of work that may wait for each of them.
    init(workers: Int, depth: Int) {
        self.workers = max(workers, 1)
        capacity = max(workers, 1) * max(depth, 0)
        for number in 0..<self.workers {
            let thread = Thread { [self] in serve() }
            thread.name = "darkroom-pixels-\(number)"
            thread.stackSize = 8 << 20
            thread.start()
        }
    }

    /// Pieces of work that no thread has begun.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Runs `work` on a pixel thread. The function that it is handed turns true when the calling task is cancelled; work that has not begun
    /// by then never does.
    func run<Value: Sendable>(
        urgency: Urgency, _ work: @escaping @Sendable (@escaping @Sendable () -> Bool) throws(PipelineError) -> Value
    ) async throws(PipelineError) -> Value {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let isCancelled = CancellationFlag()
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { (continuation: CheckedContinuation<Result<Value, PipelineError>, Never>) in
                let item = Item(
                    number: number, urgency: urgency,
                    run: {
                        continuation.resume(
                            returning: Result { () throws(PipelineError) in try work { isCancelled.isRaised } })
                    },
                    refuse: { continuation.resume(returning: .failure($0)) })
                if let refusal = admit(item) { item.refuse(refusal) }
            }
        } onCancel: {
            isCancelled.raise()
            drop(number)
        }
        return try outcome.get()
    }

    /// Refuses what waits and lets the threads end after the work they have.
    func shutdown() {
        let waiting = state.withLock { state in
            state.isClosed = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for item in waiting { item.refuse(.cancelled) }
        for _ in 0..<workers { signal.signal() }
    }

    private func admit(_ item: Item) -> PipelineError? {
        let refusal = state.withLock { state -> PipelineError? in
            // `drop` takes this lock too, so a cancellation is seen either here or there.
            if state.isClosed || Task.isCancelled { return .cancelled }
            let idle = workers - state.running
            guard state.waiting.count < capacity + idle else {
                let seconds = state.meanSeconds * Double(state.waiting.count) / Double(workers)
                return .overloaded(retryAfterSeconds: min(max(Int(seconds.rounded(.up)), 1), 60))
            }
            state.waiting.append(item)
            return nil
        }
        if refusal == nil { signal.signal() }
        return refusal
    }

    private func drop(_ number: Int) {
        let dropped = state.withLock { state -> Item? in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0) }
        }
        dropped?.refuse(.cancelled)
    }

    /// What each thread does for life.
    private func serve() {
        while true {
            signal.wait()
            guard let item = next() else {
                if state.withLock(\.isClosed) { return }
                continue
            }
            let start = ContinuousClock.now
            item.run()
            let took = start.duration(to: .now)
            state.withLock { state in
                state.running -= 1
                state.meanSeconds = 0.9 * state.meanSeconds + 0.1 * (took / .seconds(1))
            }
        }
    }

    /// The first of the most urgent. Urgencies rise while work waits, so they are compared now and not at admission.
    private func next() -> Item? {
        state.withLock { state in
            guard var best = state.waiting.indices.first else { return nil }
            for index in state.waiting.indices.dropFirst()
            where state.waiting[index].urgency.level > state.waiting[best].urgency.level {
                best = index
            }
            state.running += 1
            return state.waiting.remove(at: best)
        }
    }
}

/// A flag that one side raises and the other side polls.
final class CancellationFlag: Sendable {
    private let flag = Atomic(false)

    var isRaised: Bool { flag.load(ordering: .relaxed) }

    func raise() { flag.store(true, ordering: .relaxed) }
}
