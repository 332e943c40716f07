import Synchronization
import Testing

@testable import Pipeline

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
        await until { queue.waitingCount == 1 }
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
        await until { queue.waitingCount == 1 }
        waiting.cancel()
        #expect(await waiting.value == .failure(.cancelled))
        #expect(queue.waitingCount == 0)
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
            await until { queue.waitingCount == index + 1 }
        }
        late.raise(to: .high)
        blocker.release()
        for task in tasks { await task.value }
        _ = await running.value
        #expect(order.lines == ["raised", "high", "normal", "low"])
        queue.shutdown()
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
        await until { queue.waitingCount == 1 }
        queue.shutdown()
        #expect(await waiting.value == .failure(.cancelled))
        #expect(await run(queue) { 3 }.value == .failure(.cancelled))
        blocker.release()
        #expect(await running.value == .success(1))
    }
}
