import Dispatch
import Foundation
import NIOCore
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The one thread that changes a disk store. It does what is queued, in order, writes that follow each other together;
/// after each step and when nothing is queued it does a slice of the upkeep. Ends with the last reference, once all is
/// done.
final class WriterThread: Sendable {
    /// What is queued.
    enum Job: Sendable {
        case write(EntryWrite)
        case change(@Sendable () -> Void)
    }

    private let queue = JobQueue()

    /// Starts the thread.
    init(_ entries: DiskEntries) {
        let thread = Thread { [queue] in
            Self.yieldToOthers()
            while let step = queue.next() {
                switch step {
                case .writes(let writes):
                    for (write, isWritten) in zip(writes, entries.write(writes)) { write.finish(isWritten) }
                case .change(let change): change()
                case .upkeep: break
                }
                queue.setUpkeep(isLeft: entries.runUpkeep())
            }
        }
        thread.name = "darkroom.store"
        thread.start()
    }

    deinit { queue.end() }

    /// Queues a job.
    func enqueue(_ job: Job) { queue.append(job) }

    /// Runs blocking work on the thread while the caller is suspended.
    func perform<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            enqueue(.change { continuation.resume(returning: work()) })
        }
    }

    /// Lets threads that answer requests go first when there are more of them than processors.
    private static func yieldToOthers() {
        // Of a thread, on Linux, not of the process; 0 is the calling one.
        #if canImport(Glibc)
            _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 5)
        #elseif canImport(Musl)
            _ = setpriority(PRIO_PROCESS, 0, 5)
        #endif
    }
}

/// What a writer's thread has to do.
private final class JobQueue: Sendable {
    enum Step {
        /// With different keys.
        case writes([EntryWrite])
        case change(@Sendable () -> Void)
        case upkeep
    }

    private struct State {
        var jobs = CircularBuffer<WriterThread.Job>()
        var isUpkeepLeft = true
        var isAsleep = false
        var isEnding = false
    }

    /// More than this isn't written together.
    private static let batchBytes = 8 << 20
    private static let batchEntries = 64

    private let state = Mutex(State())
    private let wake = DispatchSemaphore(value: 0)

    func append(_ job: WriterThread.Job) {
        changing { $0.jobs.append(job) }
    }

    func end() {
        changing { $0.isEnding = true }
    }

    func setUpkeep(isLeft: Bool) {
        state.withLock { $0.isUpkeepLeft = isLeft }
    }

    /// The next step, or nil at the end; waits for it.
    func next() -> Step? {
        while true {
            let (step, isEnd) = state.withLock { state -> (Step?, Bool) in
                if let step = Self.nextStep(&state) { return (step, false) }
                state.isAsleep = !state.isEnding
                return (nil, state.isEnding)
            }
            if step != nil || isEnd { return step }
            wake.wait()
        }
    }

    private static func nextStep(_ state: inout State) -> Step? {
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
        if !writes.isEmpty { return .writes(writes) }
        if case .change(let change)? = state.jobs.popFirst() { return .change(change) }
        return state.isUpkeepLeft && !state.isEnding ? .upkeep : nil
    }

    private func changing(_ change: (inout State) -> Void) {
        let wasAsleep = state.withLock { state in
            change(&state)
            defer { state.isAsleep = false }
            return state.isAsleep
        }
        if wasAsleep { wake.signal() }
    }
}
