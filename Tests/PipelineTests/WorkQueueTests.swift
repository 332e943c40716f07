import DarkroomRequests
import DarkroomTransforms
import Dispatch
import Synchronization
import Testing

@testable import DarkroomPipeline

@Suite(.timeLimit(.minutes(5)))
struct WorkQueueTests {
    /// Blocks a pixel thread until released.
    private final class Blocker: Sendable {
        let begun = Counter()
        private let released = DispatchSemaphore(value: 0)

        func hold() {
            begun.add()
            released.wait()
        }

        func release() { released.signal() }
    }

    private func run(
        _ queue: WorkQueue, priority: Priority = .normal, _ work: @escaping @Sendable () -> Int
    ) -> Task<Result<Int, PipelineError>, Never> {
        Task.immediate {
            do throws(PipelineError) {
                return .success(try await queue.run(urgency: Urgency(priority)) { _ throws(PipelineError) in work() })
            } catch {
                return .failure(error)
            }
        }
    }

    @Test func `A full queue refuses at once and suggests a delay`() async {
        let queue = WorkQueue(workers: 1, depth: 1)
        let blocker = Blocker()
        let running = run(queue) {
            blocker.hold()
            return 1
        }
        await blocker.begun.reaches(1)
        let waiting = run(queue) { 2 }
        #expect(queue.load.waitingCount == 1)
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

    @Test func `Canceled work leaves the queue and never runs`() async {
        let queue = WorkQueue(workers: 1, depth: 4)
        let blocker = Blocker()
        let running = run(queue) {
            blocker.hold()
            return 1
        }
        await blocker.begun.reaches(1)
        let ran = Counter()
        let waiting = run(queue) { ran.add() }
        #expect(queue.load.waitingCount == 1)
        waiting.cancel()
        #expect(await waiting.value == .failure(.cancelled))
        #expect(queue.load.waitingCount == 0)
        blocker.release()
        _ = await running.value
        _ = await run(queue) { 5 }.value
        #expect(ran.value == 0)
        queue.shutdown()
    }

    @Test func `Canceling running work raises its interrupt and frees the thread`() async {
        let queue = WorkQueue(workers: 1, depth: 4)
        let blocker = Blocker()
        let running = Task {
            try? await queue.run(urgency: Urgency(.normal)) { interrupt throws(PipelineError) in
                blocker.hold()
                return interrupt()
            }
        }
        await blocker.begun.reaches(1)
        running.cancel()
        blocker.release()
        #expect(await running.value == true)
        #expect(await run(queue) { 2 }.value == .success(2))
        queue.shutdown()
    }

    @Test func `Work of higher priority goes first, also if it was raised while waiting`() async {
        let queue = WorkQueue(workers: 1, depth: 8)
        let blocker = Blocker()
        let order = Journal()
        let running = run(queue) {
            blocker.hold()
            return 0
        }
        await blocker.begun.reaches(1)
        let late = Urgency(.low)
        let names: [(String, Urgency)] = [
            ("low", Urgency(.low)), ("raised", late), ("normal", Urgency(.normal)), ("high", Urgency(.high)),
        ]
        var tasks: [Task<Void, Never>] = []
        for (index, (name, urgency)) in names.enumerated() {
            tasks.append(
                Task.immediate {
                    _ = try? await queue.run(urgency: urgency) { _ throws(PipelineError) in
                        order.append(name)
                    }
                })
            #expect(queue.load.waitingCount == index + 1)
        }
        late.raise(to: .high)
        blocker.release()
        for task in tasks { await task.value }
        _ = await running.value
        #expect(order.lines == ["raised", "high", "normal", "low"])
        queue.shutdown()
    }

    @Test func `Work that cannot finish before its deadline is refused and never runs`() async {
        let time = Mutex(ContinuousClock.now)
        let start = time.withLock(\.self)
        let queue = WorkQueue(workers: 1, depth: 8, now: { time.withLock(\.self) })
        let blocker = Blocker()
        let running = run(queue) {
            blocker.hold()
            return 1
        }
        await blocker.begun.reaches(1)
        let ran = Counter()
        let late = Task.immediate { () -> PipelineError? in
            let urgency = Urgency(.normal, deadline: start + .seconds(5))
            do throws(PipelineError) {
                _ = try await queue.run(urgency: urgency) { _ throws(PipelineError) in ran.add() }
                return nil
            } catch {
                return error
            }
        }
        #expect(queue.load.waitingCount == 1)
        time.withLock { $0 += .seconds(6) }
        blocker.release()
        _ = await running.value
        #expect(await late.value == .overloaded(retryAfterSeconds: 1))
        #expect(ran.value == 0)
        let expired = queue.load.refusals.first { $0.reason == "expired" }
        #expect(expired?.count == 1 && expired?.waited ?? .zero > .zero)
        queue.shutdown()
    }

    @Test func `Work that does not fit the memory budget waits although a thread is free`() async {
        let queue = WorkQueue(workers: 2, depth: 8, memoryBudgetBytes: 100)
        let blocker = Blocker()
        let (order, setAside) = (Journal(), Counter())
        let work = { (name: String, bytes: Int, hold: Bool) in
            Task {
                try? await queue.run(
                    urgency: Urgency(.normal), weigh: { _, _ in (JobWeight(bytes: bytes, work: 1), nil) },
                    setAside: { setAside.add() }
                ) { interrupt throws(PipelineError) in
                    if hold { blocker.hold() }
                    order.append(name)
                }
            }
        }
        let first = work("first", 60, true)
        await blocker.begun.reaches(1)
        let heavy = work("heavy", 60, false)
        await setAside.reaches(1)
        #expect(queue.load.waitingBytes == 60)
        await work("light", 40, false).value
        #expect(order.lines == ["light"])
        blocker.release()
        await first.value
        await heavy.value
        #expect(order.lines == ["light", "first", "heavy"])
        #expect(queue.load.runningBytes == 0)
        queue.shutdown()
    }

    @Test func `Work that fits the memory set aside for it is done while it is weighed`() async throws {
        let queue = WorkQueue(workers: 2, depth: 8, memoryBudgetBytes: 100)
        let allowed = try await queue.run(
            urgency: Urgency(.normal), weigh: { allowedBytes, _ in (JobWeight(bytes: 50, work: 1), allowedBytes) },
            { _ throws(PipelineError) in throw .failed })
        #expect(allowed == 50)
        await #expect(throws: PipelineError.corrupt) {
            try await queue.run(
                urgency: Urgency(.normal), weigh: { _, _ throws(PipelineError) in throw .corrupt },
                { _ throws(PipelineError) in })
        }
        #expect(queue.load.runningBytes == 0)
        queue.shutdown()
    }

    @Test(arguments: [40, 60])
    func `Work that is canceled while it is weighed never runs, whether or not it would fit`(bytes: Int) async {
        let queue = WorkQueue(workers: 2, depth: 8, memoryBudgetBytes: 100)
        let (blocker, scales) = (Blocker(), Blocker())
        let first = Task {
            try? await queue.run(urgency: Urgency(.normal), weigh: { _, _ in (JobWeight(bytes: 60, work: 1), nil) }) {
                _ throws(PipelineError) in blocker.hold()
            }
        }
        await blocker.begun.reaches(1)
        let ran = Counter()
        let heavy = Task {
            try? await queue.run(
                urgency: Urgency(.normal),
                weigh: { _, _ in
                    scales.hold()
                    return (JobWeight(bytes: bytes, work: 1), nil)
                }
            ) { _ throws(PipelineError) in ran.add() }
        }
        await scales.begun.reaches(1)
        heavy.cancel()
        scales.release()
        #expect(await heavy.value == nil)
        blocker.release()
        await first.value
        #expect(ran.value == 0)
        #expect(queue.load.waitingCount == 0)
        #expect(queue.load.runningBytes == 0)
        queue.shutdown()
    }

    @Test func `Work reports the queue time of the work that it waits for`() {
        let (urgency, dependency) = (Urgency(.normal), Urgency(.normal))
        urgency.donate(to: dependency)
        #expect(urgency.timeQueued == .zero)
        dependency.setQueued(true)
        #expect(urgency.isQueued)
        dependency.setQueued(false)
        let waited = urgency.timeQueued
        #expect(waited > .zero && !urgency.isQueued)
        #expect(urgency.timeQueued == waited)
    }

    @Test func `After shutdown waiting and new work is refused`() async {
        let queue = WorkQueue(workers: 1, depth: 8)
        let blocker = Blocker()
        let running = run(queue) {
            blocker.hold()
            return 1
        }
        await blocker.begun.reaches(1)
        let waiting = run(queue) { 2 }
        #expect(queue.load.waitingCount == 1)
        queue.shutdown()
        #expect(await waiting.value == .failure(.cancelled))
        #expect(await run(queue) { 3 }.value == .failure(.cancelled))
        blocker.release()
        #expect(await running.value == .success(1))
    }
}
