import DarkroomMachine
import Dispatch
import Foundation
import NIOCore
import Synchronization

/// The one thread that changes a disk store. It runs the queued jobs in order, consecutive writes together, and a slice
/// of maintenance after each step and while the queue is empty. Ends with the last reference, once the queue is empty.
///
/// The thread creates its ``DiskWriter`` itself and passes it to jobs: no other thread has access to it.
final class WriterThread: Sendable {
    private let queue: WriteQueue

    /// Starts the thread and waits until its writer is there.
    ///
    /// - Throws: the error of `makeWriter`; the thread has ended then.
    init(
        _ queue: WriteQueue, makeWriter: @escaping @Sendable () throws(DiskStoreError) -> DiskWriter
    ) async throws(DiskStoreError) {
        self.queue = queue
        let error = await withCheckedContinuation { (continuation: CheckedContinuation<DiskStoreError?, Never>) in
            let thread = Thread {
                // Threads that answer requests come first.
                ThreadPriority.lower(niceness: 5)
                do throws(DiskStoreError) {
                    let writer = try makeWriter()
                    continuation.resume(returning: nil)
                    Self.run(queue, writer)
                } catch {
                    continuation.resume(returning: error)
                }
            }
            thread.name = "darkroom.store"
            thread.start()
        }
        if let error { throw error }
    }

    deinit { queue.end() }

    /// Queues work that changes the store.
    func enqueue(_ work: @escaping @Sendable (DiskWriter) -> Void) { queue.append(work) }

    /// Runs blocking work on the thread, after everything that was queued before, while the caller is suspended.
    @discardableResult
    func perform<Value: Sendable>(_ work: @escaping @Sendable (DiskWriter) -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            enqueue { continuation.resume(returning: work($0)) }
        }
    }

    private static func run(_ queue: WriteQueue, _ writer: DiskWriter) {
        var isMaintenanceLeft = true
        while let step = queue.next(isMaintenanceLeft: isMaintenanceLeft) {
            switch step {
            case .writes(let writes):
                for (write, isWritten) in zip(writes, writer.write(writes)) { queue.finish(write, isWritten) }
            case .work(let work): work(writer)
            case .maintenance: break
            }
            isMaintenanceLeft = writer.runMaintenance()
        }
    }
}

/// The queue of a writer's thread: jobs in order, and the bytes and entries that wait to be written, which are limited.
final class WriteQueue: Sendable {
    enum Step {
        /// Writes with different keys.
        case writes([EntryWrite])
        case work(@Sendable (DiskWriter) -> Void)
        case maintenance
    }

    private enum Job {
        case write(EntryWrite)
        case work(@Sendable (DiskWriter) -> Void)
    }

    private struct State {
        var jobs = CircularBuffer<Job>()
        /// The entries that are queued or being written, and the size of their files.
        var waiting = StoreTotals()
        /// When the first of the queued writes came, if nothing hurries.
        var lingersSince: DispatchTime?
        /// Whether a job is queued that a caller waits for.
        var hurries = false
        var isAsleep = false
        var isEnding = false

        /// Whether the queued writes wait for others to be written with.
        var isLingering: Bool {
            lingersSince != nil && !hurries && !isEnding && jobs.count < WriteQueue.batchEntries
                && waiting.bytes < WriteQueue.batchBytes
        }
    }

    /// The limits of one batch of writes.
    private static let batchBytes = 8 << 20
    private static let batchEntries = 64
    /// The time that writes wait for others: the pages of the index that several rows share are written once.
    private static let linger = DispatchTimeInterval.milliseconds(200)

    private let maxBytes: Int
    private let maxEntries: Int
    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    init(maxBytes: Int, maxEntries: Int) {
        self.maxBytes = maxBytes
        self.maxEntries = maxEntries
    }

    /// The entries that are queued or being written, and the size of their files.
    var waiting: StoreTotals { state.withLock(\.waiting) }

    /// Queues a write if it fits. A single write that is larger than the queue is accepted when nothing waits.
    ///
    /// - Parameters:
    ///   - isTrial: takes the write only if nothing waits, since it is expected to fail.
    ///   - isAwaited: writes at once; otherwise the write may wait for others.
    /// - Returns: false if the write was refused; it is never finished then.
    func append(_ write: EntryWrite, isTrial: Bool, isAwaited: Bool) -> Bool {
        change { state in
            let isFirst = state.waiting.entries == 0
            let fits = isFirst || !isTrial && state.waiting.bytes + write.fileBytes <= maxBytes
            guard fits, state.waiting.entries < maxEntries else { return false }
            state.waiting.entries += 1
            state.waiting.bytes += write.fileBytes
            state.jobs.append(.write(write))
            if isAwaited { state.hurries = true }
            if state.lingersSince == nil { state.lingersSince = .now() }
            return true
        }
    }

    func append(_ work: @escaping @Sendable (DiskWriter) -> Void) {
        change {
            $0.jobs.append(.work(work))
            $0.hurries = true
        }
    }

    /// Takes a write off the queue's count, and reports its result.
    func finish(_ write: EntryWrite, _ isWritten: Bool) {
        state.withLock {
            $0.waiting.entries -= 1
            $0.waiting.bytes -= write.fileBytes
        }
        write.finish(isWritten)
    }

    /// Makes ``next(isMaintenanceLeft:)`` return nil once all jobs are done.
    func end() {
        change { $0.isEnding = true }
    }

    /// Waits for the next step; nil at the end.
    func next(isMaintenanceLeft: Bool) -> Step? {
        while true {
            let (step, isEnd, due) = state.withLock { state -> (Step?, Bool, DispatchTime) in
                let due = state.lingersSince.map { $0 + Self.linger } ?? .distantFuture
                let isLingering = state.isLingering && .now() < due
                if isLingering, isMaintenanceLeft { return (.maintenance, false, due) }
                if !isLingering, let step = Self.nextStep(&state, isMaintenanceLeft) { return (step, false, due) }
                state.isAsleep = !state.isEnding
                return (nil, state.isEnding, isLingering ? due : .distantFuture)
            }
            if step != nil || isEnd { return step }
            _ = wake.wait(timeout: due)
        }
    }

    private static func nextStep(_ state: inout State, _ isMaintenanceLeft: Bool) -> Step? {
        var writes: [EntryWrite] = []
        var keys: Set<EntryKey> = []
        var bytes = 0
        while writes.count < batchEntries, case .write(let write)? = state.jobs.first,
            bytes == 0 || bytes + write.fileBytes <= batchBytes, keys.insert(write.key).inserted
        {
            state.jobs.removeFirst()
            writes.append(write)
            bytes += write.fileBytes
        }
        defer {
            if state.jobs.isEmpty { (state.lingersSince, state.hurries) = (nil, false) }
        }
        if !writes.isEmpty { return .writes(writes) }
        if case .work(let work)? = state.jobs.popFirst() { return .work(work) }
        return isMaintenanceLeft && !state.isEnding ? .maintenance : nil
    }

    private func change<Value>(_ body: (inout State) -> Value) -> Value {
        let (value, wakes) = state.withLock { state in
            let wasLingering = state.isLingering
            let value = body(&state)
            // A thread that lingers wakes by itself.
            guard state.isAsleep, !(wasLingering && state.isLingering) else { return (value, false) }
            state.isAsleep = false
            return (value, true)
        }
        if wakes { wake.signal() }
        return value
    }
}
