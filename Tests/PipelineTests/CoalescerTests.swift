import DarkroomOrigin
import DarkroomRequests
import DarkroomWaiting
import Synchronization
import Testing

@testable import DarkroomPipeline

@Suite(.timeLimit(.minutes(5)))
struct CoalescerTests {
    private let coalescer = Coalescer<String, Int>()
    private let gate = Gate()
    private let runs = Counter()

    /// A caller in its own task, which waits when this returns, and whose work waits at the gate.
    private func caller(
        _ key: String = "key", priority: Priority = .normal, deadline: Deadline? = nil, _ answer: Int = 7
    ) -> Task<Result<Int, PipelineError>, Never> {
        Task.immediate { [coalescer, gate, runs] in
            do throws(PipelineError) {
                return .success(
                    try await coalescer.value(for: key, urgency: Urgency(priority), deadline: deadline) {
                        _ throws(PipelineError) in
                        runs.add()
                        guard await gate.pass() else { throw .cancelled }
                        return answer
                    }.value)
            } catch {
                return .failure(error)
            }
        }
    }

    @Test func `Equal requests run the work once, and all get the result`() async {
        let callers = (0..<50).map { _ in caller() }
        #expect(coalescer.waiters(for: "key") == 50)
        gate.open()
        for caller in callers { #expect(await caller.value == .success(7)) }
        #expect(runs.value == 1)
        #expect(coalescer.count == 0)
    }

    @Test func `Different keys run their own work`() async {
        let first = caller("a", 1)
        let second = caller("b", 2)
        #expect(coalescer.count == 2)
        gate.open()
        #expect(await first.value == .success(1))
        #expect(await second.value == .success(2))
        #expect(runs.value == 2)
    }

    @Test func `When the first requester leaves, the others still get the result of the same work`() async {
        let first = caller()
        #expect(coalescer.waiters(for: "key") == 1)
        let second = caller()
        #expect(coalescer.waiters(for: "key") == 2)
        first.cancel()
        #expect(await first.value == .failure(.cancelled))
        gate.open()
        #expect(await second.value == .success(7))
        #expect(runs.value == 1)
    }

    @Test func `When the last requester leaves, the work is canceled and the key is gone`() async {
        let only = caller()
        await runs.reaches(1)
        only.cancel()
        #expect(await only.value == .failure(.cancelled))
        #expect(coalescer.count == 0)
    }

    @Test func `A requester whose deadline passes leaves, and the others still get the result`() async {
        let deadline = Deadline()
        let first = caller(deadline: deadline)
        #expect(coalescer.waiters(for: "key") == 1)
        let second = caller()
        #expect(coalescer.waiters(for: "key") == 2)
        deadline.pass()
        #expect(await first.value == .failure(.cancelled))
        #expect(await caller(deadline: deadline).value == .failure(.cancelled))
        gate.open()
        #expect(await second.value == .success(7))
        #expect(runs.value == 1)
    }

    @Test func `The work of a requester whose deadline passes is canceled if no other waits`() async {
        let deadline = Deadline()
        let only = caller(deadline: deadline)
        await runs.reaches(1)
        deadline.pass()
        #expect(await only.value == .failure(.cancelled))
        #expect(coalescer.count == 0)
    }

    @Test func `A request that arrives while work is being canceled starts new work`() async {
        let tearDown = Gate()
        let first = Task { [coalescer, runs] in
            try? await coalescer.value(for: "key", urgency: Urgency(.normal)) { _ throws(PipelineError) in
                runs.add()
                await Gate().pass()
                _ = await Task.detached { await tearDown.pass() }.value
                return 1
            }
        }
        await runs.reaches(1)
        first.cancel()
        _ = await first.value
        let second = caller()
        await runs.reaches(2)
        tearDown.open()
        gate.open()
        #expect(await second.value == .success(7))
    }

    @Test func `When the work fails, every waiter gets the same error and the key is free before they resume`() async {
        let callers = (0..<5).map { _ in
            Task.immediate { [coalescer, gate] in
                do throws(PipelineError) {
                    _ = try await coalescer.value(for: "key", urgency: Urgency(.normal)) { _ throws(PipelineError) in
                        await gate.pass()
                        throw .notFound(status: 404)
                    }
                    return (PipelineError?.none, 0)
                } catch {
                    return (error, coalescer.count)
                }
            }
        }
        #expect(coalescer.waiters(for: "key") == 5)
        gate.open()
        for caller in callers {
            let (error, keys) = await caller.value
            #expect(error == .notFound(status: 404))
            #expect(keys == 0)
        }
    }

    @Test func `A waiter of higher priority raises shared work, and so does raising a waiter later`() async throws {
        let shared = Watched<Urgency?>(nil)
        let low = Task { [coalescer, gate] in
            try await coalescer.value(for: "key", urgency: Urgency(.low)) { urgency throws(PipelineError) in
                shared.change { $0 = urgency }
                await gate.pass()
                return 1
            }.value
        }
        await shared.wait { $0 != nil }
        let own = Urgency(.normal)
        let joining = Task.immediate { [coalescer] in
            try await coalescer.value(for: "key", urgency: own) { _ throws(PipelineError) in 2 }.value
        }
        #expect(shared.value?.level == .normal)
        own.raise(to: .high)
        #expect(shared.value?.level == .high)
        gate.open()
        #expect(try await low.value == 1)
        #expect(try await joining.value == 1)
    }

    @Test func `A caller that is canceled before joining starts no work`() async {
        let start = Gate()
        let late = Task { [coalescer, runs] in
            await start.pass()
            return try? await coalescer.value(for: "key", urgency: Urgency(.normal)) { _ throws(PipelineError) in
                runs.add()
                return 1
            }.value
        }
        late.cancel()
        start.open()
        #expect(await late.value == nil)
        #expect(runs.value == 0)
    }
}
