import DarkroomObjectStorage
import Synchronization

/// Runs writes to the shared tier behind the answers, a few at a time, within a budget of bytes. Deletions run beside
/// them, fewer at a time: a large purge must not keep new images from the other servers.
final class SharedWriteQueue: Sendable {
    typealias Work = @Sendable () async -> Void

    /// What a job is for.
    enum Purpose: Sendable {
        case write
        /// The deletion of objects that are not used in any case.
        case deletion
    }

    private struct Job: Sendable {
        let purpose: Purpose
        let bytes: Int
        let work: Work
    }

    private struct State {
        var writes: [Job] = []
        var deletions: [Job] = []
        var running = 0
        var runningDeletions = 0
        var bytes = 0
        var isClosed = false
        var drained: [CheckedContinuation<Void, Never>] = []

        /// The next job, which runs from now on; nil if none may run.
        mutating func begin() -> Job? {
            guard running < SharedWriteQueue.concurrency else { return nil }
            if !writes.isEmpty {
                running += 1
                return writes.removeFirst()
            }
            guard !deletions.isEmpty, runningDeletions < SharedWriteQueue.deletionConcurrency else { return nil }
            (running, runningDeletions) = (running + 1, runningDeletions + 1)
            return deletions.removeFirst()
        }
    }

    private static let concurrency = 8
    private static let deletionConcurrency = 2
    private static let maxJobs = 10_000

    private let maxBytes: Int
    private let state = Mutex(State())

    init(maxBytes: Int) {
        self.maxBytes = maxBytes
    }

    /// The number and size of the writes that are waiting or running.
    var waiting: (writes: Int, bytes: Int) {
        state.withLock { ($0.writes.count + $0.running - $0.runningDeletions, $0.bytes) }
    }

    /// - Parameter bytes: the memory that the work holds.
    /// - Returns: false if the queue is full.
    func append(_ purpose: Purpose = .write, bytes: Int, _ work: @escaping Work) -> Bool {
        let job = Job(purpose: purpose, bytes: bytes, work: work)
        let (isAccepted, next) = state.withLock { state -> (Bool, Job?) in
            let count = purpose == .write ? state.writes.count : state.deletions.count
            guard !state.isClosed, count < Self.maxJobs, bytes == 0 || state.bytes + bytes <= maxBytes else {
                return (false, nil)
            }
            state.bytes += bytes
            if purpose == .write { state.writes.append(job) } else { state.deletions.append(job) }
            return (true, state.begin())
        }
        if let next { Task { await run(next) } }
        return isAccepted
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

    /// Accepts no more jobs, and waits for queued writes until the limit; writes that have not begun by then, and
    /// deletions, are dropped.
    func close(within limit: Duration) async {
        state.withLock { ($0.isClosed, $0.deletions) = (true, []) }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.drain() }
            group.addTask {
                try? await Task.sleep(for: limit)
                self.state.withLock { $0.writes = [] }
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

    private func end(_ job: Job) -> Job? {
        let (next, drained) = state.withLock { state -> (Job?, [CheckedContinuation<Void, Never>]) in
            state.bytes -= job.bytes
            state.running -= 1
            if job.purpose == .deletion { state.runningDeletions -= 1 }
            if let next = state.begin() { return (next, []) }
            guard state.running == 0 else { return (nil, []) }
            defer { state.drained = [] }
            return (nil, state.drained)
        }
        for continuation in drained { continuation.resume() }
        return next
    }
}

/// Separates the removal of a source's objects from writes to the source, so that a removal does not delete objects
/// that a write has just put under the same names. Changes begin in the order of the calls; writes may run at the same
/// time.
final class SourceChanges: Sendable {
    enum Change { case write, removal }

    private struct Line {
        var writes = 0
        var isRemoving = false
        var waiting: [(change: Change, continuation: CheckedContinuation<Void, Never>)] = []

        mutating func begin(_ change: Change) -> Bool {
            guard !isRemoving, change == .write || writes == 0 else { return false }
            if change == .write { writes += 1 } else { isRemoving = true }
            return true
        }

        mutating func end(_ change: Change) -> [CheckedContinuation<Void, Never>] {
            if change == .write { writes -= 1 } else { isRemoving = false }
            var begun: [CheckedContinuation<Void, Never>] = []
            while let first = waiting.first, begin(first.change) {
                begun.append(waiting.removeFirst().continuation)
            }
            return begun
        }
    }

    /// Sources that are being changed.
    private let lines = Mutex<[StoreKey: Line]>([:])

    func perform<Value>(
        _ change: Change, _ source: StoreKey, _ body: () async throws(ObjectStorageError) -> Value
    ) async throws(ObjectStorageError) -> Value {
        await begin(change, source)
        defer { end(change, source) }
        return try await body()
    }

    private func begin(_ change: Change, _ source: StoreKey) async {
        await withCheckedContinuation { continuation in
            let isBegun = lines.withLock { lines in
                var line = lines[source] ?? Line()
                let isBegun = line.waiting.isEmpty && line.begin(change)
                if !isBegun { line.waiting.append((change, continuation)) }
                lines[source] = line
                return isBegun
            }
            if isBegun { continuation.resume() }
        }
    }

    private func end(_ change: Change, _ source: StoreKey) {
        let begun = lines.withLock { lines -> [CheckedContinuation<Void, Never>] in
            guard var line = lines[source] else { return [] }
            let begun = line.end(change)
            lines[source] = line.writes > 0 || line.isRemoving ? line : nil
            return begun
        }
        for continuation in begun { continuation.resume() }
    }
}
