import Synchronization
import Testing

@testable import DarkroomPipeline

@Suite(.timeLimit(.minutes(1)))
struct WorkQueueTests {
    /// Keeps a pixel thread busy until released; threads may block, tasks may not.
    private final class Blocker: Sendable {
        private let released = Atomic(false)
        private let begun = Atomic(false)

        var hasBegun: Bool { begun.load(ordering: .acquiring) }

        func hold(_ interrupt: () -> Bool = { false }) {
            begun.store(true, ordering: .releasing)
            while !released.load(ordering: .acquiring), !interrupt() {}
        }

        func release() { released.store(true, ordering: .releasing) }
    }

    private func run(
        _ queue: WorkQueue, priority: Priority = .normal, _ work: @escaping @Sendable () -> Int
    ) -> Task<Result<Int, PipelineError>, Never> {
        Task {
            do throws(PipelineError) {
                return .success(try await queue.run(urgency: Urgency(priority)) { _ throws(PipelineError) in work() })
            } catch {
                return .failure(error)
            }
        }
    }

    @Test func `A full queue refuses at once and says when to come back`() async {
        let queue = WorkQueue(workers: 1, depth: 1)
        let blocker = Blocker()
        let running = run(queue) {
            blocker.hold()
            return 1
        }
        await until { blocker.hasBegun }
        let waiting = run(queue) { 2 }
        await until { queue.load.waitingCount == 1 }
        let refused = await run(queue) { 3 }.value
        guard case .failure(.overloaded(let seconds)) = refused else {
            Issue.record("expected a refusal, got \(refused)")
            return
        }
        #expect((1...60).contains(seconds))
        blocker.release()
        #expect(await running.value == .success(1))
        #expect(await waiting.value == .success(2))
        queue.shutdown()
    }

    @Test func `Cancelled work leaves the queue and never runs`() async {
        let queue = WorkQueue(workers: 1, depth: 4)
        let blocker = Blocker()
        let running = run(queue) {
            blocker.hold()
            return 1
        }
        await until { blocker.hasBegun }
        let ran = Counter()
        let waiting = run(queue) { ran.add() }
        await until { queue.load.waitingCount == 1 }
        waiting.cancel()
        #expect(await waiting.value == .failure(.cancelled))
        #expect(queue.load.waitingCount == 0)
        blocker.release()
        _ = await running.value
        _ = await run(queue) { 5 }.value
        #expect(ran.value == 0)
        queue.shutdown()
    }

    @Test func `Cancelling running work raises its interrupt and frees the thread`() async {
        let queue = WorkQueue(workers: 1, depth: 4)
        let blocker = Blocker()
        let running = Task {
            try? await queue.run(urgency: Urgency(.normal)) { interrupt throws(PipelineError) in
                blocker.hold(interrupt)
                return 1
            }
        }
        await until { blocker.hasBegun }
        running.cancel()
        _ = await running.value
        #expect(await run(queue) { 2 }.value == .success(2))
        queue.shutdown()
    }

    @Test func `The most urgent work goes first, also when it became urgent while waiting`() async {
        let queue = WorkQueue(workers: 1, depth: 8)
        let blocker = Blocker()
        let order = Journal()
        let running = run(queue) {
            blocker.hold()
            return 0
        }
        await until { blocker.hasBegun }
        let late = Urgency(.low)
        let names: [(String, Urgency)] = [
            ("low", Urgency(.low)), ("raised", late), ("normal", Urgency(.normal)), ("high", Urgency(.high)),
        ]
        var tasks: [Task<Void, Never>] = []
        for (index, (name, urgency)) in names.enumerated() {
            tasks.append(
                Task {
                    _ = try? await queue.run(urgency: urgency) { _ throws(PipelineError) in
                        order.append(name)
                    }
                })
            await until { queue.load.waitingCount == index + 1 }
        }
        late.raise(to: .high)
        blocker.release()
        for task in tasks { await task.value }
        _ = await running.value
        #expect(order.lines == ["raised", "high", "normal", "low"])
        queue.shutdown()
    }

    @Test func `Work that could not be done in time any more is refused and never runs`() async {
        let time = Mutex(ContinuousClock.now)
        let start = time.withLock(\.self)
        let queue = WorkQueue(workers: 1, depth: 8, now: { time.withLock(\.self) })
        let blocker = Blocker()
        let running = run(queue) {
            blocker.hold()
            return 1
        }
        await until { blocker.hasBegun }
        let ran = Counter()
        let late = Task { () -> PipelineError? in
            let urgency = Urgency(.normal, deadline: start + .seconds(5))
            do throws(PipelineError) {
                _ = try await queue.run(urgency: urgency) { _ throws(PipelineError) in ran.add() }
                return nil
            } catch {
                return error
            }
        }
        await until { queue.load.waitingCount == 1 }
        time.withLock { $0 += .seconds(6) }
        blocker.release()
        _ = await running.value
        #expect(await late.value == .overloaded(retryAfterSeconds: 1))
        #expect(ran.value == 0)
        #expect(queue.load.refusals.first { $0.reason == "expired" }?.count == 1)
        queue.shutdown()
    }

    @Test func `Work that does not fit beside what runs waits for it though a thread is free`() async {
        let queue = WorkQueue(workers: 2, depth: 8, memoryBudgetBytes: 100)
        let blocker = Blocker()
        let order = Journal()
        let work = { (name: String, bytes: Int, hold: Bool) in
            Task {
                try? await queue.run(urgency: Urgency(.normal), weigh: { _ in JobWeight(bytes: bytes, work: 1) }) {
                    interrupt throws(PipelineError) in
                    if hold { blocker.hold() }
                    order.append(name)
                }
            }
        }
        let first = work("first", 60, true)
        await until { blocker.hasBegun }
        let heavy = work("heavy", 60, false)
        await until { queue.load.waitingBytes == 60 }
        await work("light", 40, false).value
        #expect(order.lines == ["light"])
        blocker.release()
        await first.value
        await heavy.value
        #expect(order.lines == ["light", "first", "heavy"])
        await until { queue.load.runningBytes == 0 }
        queue.shutdown()
    }

    @Test(arguments: [40, 60])
    func `What is cancelled while it is weighed never runs, whether or not it would fit`(bytes: Int) async {
        let queue = WorkQueue(workers: 2, depth: 8, memoryBudgetBytes: 100)
        let (blocker, scales) = (Blocker(), Blocker())
        let first = Task {
            try? await queue.run(urgency: Urgency(.normal), weigh: { _ in JobWeight(bytes: 60, work: 1) }) {
                _ throws(PipelineError) in blocker.hold()
            }
        }
        await until { blocker.hasBegun }
        let ran = Counter()
        let heavy = Task {
            try? await queue.run(
                urgency: Urgency(.normal),
                weigh: { interrupt in
                    scales.hold(interrupt)
                    return JobWeight(bytes: bytes, work: 1)
                }
            ) { _ throws(PipelineError) in ran.add() }
        }
        await until { scales.hasBegun }
        heavy.cancel()
        #expect(await heavy.value == nil)
        blocker.release()
        await first.value
        #expect(ran.value == 0)
        #expect(queue.load.waitingCount == 0)
        await until { queue.load.runningBytes == 0 }
        queue.shutdown()
    }

    @Test func `Work knows how long what it waits for has stood in the queue, also when that is over`() {
        let (urgency, follower) = (Urgency(.normal), Urgency(.normal))
        urgency.carry(follower)
        #expect(urgency.timeQueued == .zero)
        follower.noteQueued(true)
        while urgency.timeQueued == .zero {}
        #expect(urgency.isQueued)
        follower.noteQueued(false)
        let waited = urgency.timeQueued
        #expect(waited > .zero && !urgency.isQueued)
        #expect(urgency.timeQueued == waited)
    }

    @Test func `After shutdown what waits and what comes is refused`() async {
        let queue = WorkQueue(workers: 1, depth: 8)
        let blocker = Blocker()
        let running = run(queue) {
            blocker.hold()
            return 1
        }
        await until { blocker.hasBegun }
        let waiting = run(queue) { 2 }
        await until { queue.load.waitingCount == 1 }
        queue.shutdown()
        #expect(await waiting.value == .failure(.cancelled))
        #expect(await run(queue) { 3 }.value == .failure(.cancelled))
        blocker.release()
        #expect(await running.value == .success(1))
    }
}
