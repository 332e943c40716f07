import Dispatch
import Foundation
import NIOCore
import Synchronization

/// A read that waits for a thread or runs on one. Answered once: by the thread, or with nil when its time is up.
final class ReadJob: Sendable {
    fileprivate let queuedAt: ContinuousClock.Instant
    /// Reads and answers.
    fileprivate let run: @Sendable () -> Void
    /// Answers with nil, unless the job was answered before.
    fileprivate let expire: @Sendable () -> Void

    /// - Parameter read: called on a thread; blocks.
    init<Found: Sendable>(
        at now: ContinuousClock.Instant, read: @escaping @Sendable () -> Found,
        answer: @escaping @Sendable (Found?) -> Void
    ) {
        queuedAt = now
        let pending = PendingAnswer(answer)
        run = { pending.finish(read()) }
        expire = { pending.finish(nil) }
    }

    private final class PendingAnswer<Found: Sendable>: Sendable {
        private let answer: Mutex<(@Sendable (Found?) -> Void)?>

        init(_ answer: @escaping @Sendable (Found?) -> Void) { self.answer = Mutex(answer) }

        func finish(_ found: Found?) {
            let answer = answer.withLock { $0.take() }
            answer?(found)
        }
    }
}

/// The threads of a disk store that read, with one queue: a slow file holds up one thread, not the reads behind it.
///
/// No read waits without bounds for a device that doesn't answer: when its time is up, or if too many wait already,
/// it is answered with nil. A stuck thread goes on with the queue when its call returns.
final class ReaderThreads: Sendable {
    /// The time after which a read is answered with nil.
    static let lookupTimeout = Duration.seconds(5)
    /// The most reads that wait for a thread.
    private static let maximumJobs = 4096
    private static let watchInterval = DispatchTimeInterval.seconds(1)

    private struct State {
        var jobs = CircularBuffer<ReadJob>()
        /// The job of each thread that is at work.
        var running: [Int: ReadJob] = [:]
        /// The threads that have not ended.
        var threads: Int
        var sleeping = 0
        var isEnding = false
        var isWatched = false
        var whenEnded: [@Sendable () -> Void] = []
    }

    /// What the threads hold, so that they end with the last reference to ``ReaderThreads``.
    private final class Queue: Sendable {
        let state: Mutex<State>
        let wake = DispatchSemaphore(value: 0)

        init(threads: Int) { state = Mutex(State(threads: threads)) }
    }

    private let queue: Queue

    init(count: Int) {
        let queue = Queue(threads: count)
        self.queue = queue
        for number in 0..<count {
            let thread = Thread { Self.run(queue, number) }
            thread.name = "darkroom.reader"
            thread.start()
        }
    }

    deinit { Self.end(queue) {} }

    func append(_ job: ReadJob) {
        let (isTaken, wakes, watches) = queue.state.withLock { state -> (Bool, Bool, Bool) in
            guard !state.isEnding, state.jobs.count < Self.maximumJobs else { return (false, false, false) }
            state.jobs.append(job)
            defer { (state.sleeping, state.isWatched) = (max(0, state.sleeping - 1), true) }
            // A thread that is at work looks for the next job anyway.
            return (true, state.sleeping > 0, !state.isWatched)
        }
        if wakes { queue.wake.signal() }
        if watches { Self.watch(queue) }
        if !isTaken { job.expire() }
    }

    /// Ends the threads after the queued jobs, and waits for them.
    func end() async {
        await withCheckedContinuation { continuation in Self.end(queue) { continuation.resume() } }
    }

    private static func end(_ queue: Queue, _ whenEnded: @escaping @Sendable () -> Void) {
        let (isOver, sleeping) = queue.state.withLock { state -> (Bool, Int) in
            state.isEnding = true
            if state.threads > 0 { state.whenEnded.append(whenEnded) }
            defer { state.sleeping = 0 }
            return (state.threads == 0, state.sleeping)
        }
        for _ in 0..<sleeping { queue.wake.signal() }
        if isOver { whenEnded() }
    }

    private static func run(_ queue: Queue, _ number: Int) {
        while let job = next(queue, number) { job.run() }
        let waiting = queue.state.withLock { state in
            state.threads -= 1
            return state.threads == 0 ? state.whenEnded : []
        }
        for whenEnded in waiting { whenEnded() }
    }

    /// Waits for the next job; nil at the end.
    private static func next(_ queue: Queue, _ number: Int) -> ReadJob? {
        while true {
            let (job, isEnd, _) = queue.state.withLock { state -> (ReadJob?, Bool, ReadJob?) in
                // Released outside the lock: it may hold the last reference to the threads.
                let finished = state.running[number]
                let job = state.jobs.popFirst()
                state.running[number] = job
                if job == nil, !state.isEnding { state.sleeping += 1 }
                return (job, state.isEnding, finished)
            }
            if job != nil || isEnd { return job }
            queue.wake.wait()
        }
    }

    // MARK: Timeouts

    private static func watch(_ queue: Queue) {
        DispatchQueue.global().asyncAfter(deadline: .now() + watchInterval) {
            if expire(queue, queuedBefore: .now - lookupTimeout) { watch(queue) }
        }
    }

    /// Answers the jobs that were queued before this time.
    func expire(queuedBefore limit: ContinuousClock.Instant) { _ = Self.expire(queue, queuedBefore: limit) }

    /// - Returns: whether other jobs are to be watched.
    private static func expire(_ queue: Queue, queuedBefore limit: ContinuousClock.Instant) -> Bool {
        let (expired, isWatched) = queue.state.withLock { state -> ([ReadJob], Bool) in
            var expired = state.running.values.filter { $0.queuedAt < limit }
            while let job = state.jobs.first, job.queuedAt < limit { expired.append(state.jobs.removeFirst()) }
            state.isWatched = !state.jobs.isEmpty || !state.running.isEmpty
            return (expired, state.isWatched)
        }
        for job in expired { job.expire() }
        return isWatched
    }
}
