import Synchronization
import Testing

@testable import DarkroomWaiting

@Suite(.timeLimit(.minutes(5)))
struct WaitTests {
    @Test func `The first answer counts, also if it comes before the wait`() async {
        let wait = Wait<Int>()
        wait.end(1)
        wait.end(2)
        #expect(await wait.answer {} == 1)
    }

    @Test func `A wait goes on until its answer comes`() async {
        let wait = Wait<Int>()
        let task = Task { await wait.answer {} }
        await Task.yield()
        wait.end(7)
        #expect(await task.value == 7)
    }

    @Test(arguments: [true, false])
    func `A wait is canceled with its task`(isCanceledBefore: Bool) async {
        let wait = Wait<String>()
        let task = Task {
            if isCanceledBefore { withUnsafeCurrentTask { $0?.cancel() } }
            return await wait.answer { wait.end("canceled") }
        }
        if !isCanceledBefore { task.cancel() }
        #expect(await task.value == "canceled")
    }

    @Test(arguments: [true, false])
    func `A wait ends at its deadline`(hasPassed: Bool) async {
        let (wait, deadline) = (Wait<String>(), Deadline())
        if hasPassed { deadline.pass() }
        let task = Task { await wait.answer(until: deadline) { wait.end("late") } }
        deadline.pass()
        #expect(await task.value == "late")
    }

    @Test func `An answer that was given is not lost to a cancellation`() async {
        let wait = Wait<String>()
        let table = Mutex<Set<Wait<String>>>([])
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await wait.answer {
                if table.withLock({ $0.remove(wait) }) != nil { wait.end("canceled") }
            }
        }
        wait.end("answer")
        #expect(await task.value == "answer")
    }
}
