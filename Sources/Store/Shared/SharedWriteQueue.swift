import Synchronization

/// Runs writes to the shared tier behind the answers, a few at a time, within a budget of bytes.
final class SharedWriteQueue: Sendable {
    typealias Work = @Sendable () async -> Void

    private struct Job: Sendable {
        let bytes: Int
        let work: Work
    }

    private struct State {
        var waiting: [Job] = []
        var running = 0
        var bytes = 0
        var isClosed = false
        var drained: [CheckedContinuation<Void, Never>] = []
    }

    private static let concurrency = 8
    private static let maxJobs = 10_000

    private let maxBytes: Int
    private let state = Mutex(State())

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// The number and size of the writes that are waiting or running.
    var waiting: (writes: Int, bytes: Int) { state.withLock { ($0.waiting.count + $0.running, $0.bytes) } }

    /// - Parameter bytes: the memory that the work holds.
    /// - Returns: false if the queue is full.
    func append(bytes: Int, _ work: @escaping Work) -> Bool {
        let job = Job(bytes: bytes, work: work)
        let isAccepted: Bool? = state.withLock { state in
            guard !state.isClosed, state.waiting.count < Self.maxJobs,
                bytes == 0 || state.bytes + bytes <= maxBytes
            else { return nil }
            state.bytes += bytes
            guard state.running < Self.concurrency else {
                state.waiting.append(job)
                return false
            }
            state.running += 1
            return true
        }
        if isAccepted == true { Task { await run(job) } }
        return isAccepted != nil
    }

    /// Returns once nothing waits or runs.
    func drain() async {
        await withCheckedContinuation { continuation in
            let isIdle = state.withLock { state in
                if state.running > 0 { state.drained.append(continuation) }
                return state.running == 0
            }
            if isIdle { continuation.resume() }
        }
    }

    /// Accepts no more writes, and waits for queued writes until the limit; writes that have not begun by then are
    /// dropped.
    func close(within limit: Duration) async {
        state.withLock { $0.isClosed = true }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.drain() }
            group.addTask {
                try? await Task.sleep(for: limit)
                self.state.withLock { $0.waiting = [] }
            }
            await group.next()
            group.cancelAll()
        }
    }

    private func run(_ first: Job) async {
        var next: Job? = first
        while let job = next {
            await job.work()
            next = end(job)
        }
    }

    /// Ends a job and returns the next job.
    private func end(_ job: Job) -> Job? {
        let (next, drained) = state.withLock { state -> (Job?, [CheckedContinuation<Void, Never>]) in
            state.bytes -= job.bytes
            guard state.waiting.isEmpty else { return (state.waiting.removeFirst(), []) }
            state.running -= 1
            guard state.running == 0 else { return (nil, []) }
            defer { state.drained = [] }
            return (nil, state.drained)
        }
        for continuation in drained { continuation.resume() }
        return next
    }
}
