import Foundation
import Synchronization
import Testing

@testable import DarkroomWaiting

/// Lookups that callers share, and work that outlives a request.
@Suite(.timeLimit(.minutes(5)))
struct SingleFlightTests {
    /// Lets lookups go on, and counts the ones that wait.
    private final class Gate: Sendable {
        private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))
        let started = AsyncStream<Void>.makeStream()

        func pass() async {
            started.continuation.yield()
            await withCheckedContinuation { continuation in
                let isOpen = state.withLock { state in
                    if !state.isOpen { state.waiting.append(continuation) }
                    return state.isOpen
                }
                if isOpen { continuation.resume() }
            }
        }

        func open() {
            let waiting = state.withLock { state in
                state.isOpen = true
                defer { state.waiting = [] }
                return state.waiting
            }
            for continuation in waiting { continuation.resume() }
        }
    }

    @Test func `Callers of a key share one lookup, and others have their own`() async {
        let (flights, gate) = (SingleFlight<String, Bool, Void>(), Gate())
        let look = { @Sendable in
            await gate.pass()
            return true
        }
        async let first = flights.value(for: "a", look)
        for await _ in gate.started.stream { break }
        async let second = flights.value(for: "a", look)
        async let other = flights.value(for: "b", look)
        for await _ in gate.started.stream { break }
        gate.open()
        #expect([await first, await second, await other] == [true, true, true])
        #expect(await flights.value(for: "a") { false } == false, "The first lookup has ended.")
    }

    /// Runs jobs on the system's threads.
    private final class Executor: TaskExecutor {
        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            Thread.detachNewThread { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
        }
    }

    @Test func `A lookup goes on where its first caller runs`() async {
        let (flights, gate, executor) = (SingleFlight<String, Bool, Void>(), Gate(), Executor())
        let look = { @Sendable in
            await gate.pass()
            return withUnsafeCurrentTask { $0?.unownedTaskExecutor == executor.asUnownedTaskExecutor() }
        }
        gate.open()
        #expect(await withTaskExecutorPreference(executor) { await flights.value(for: "a", look) } == true)
        #expect(await flights.value(for: "a", look) == false)
    }

    @Test func `A caller whose deadline has passed gets nothing, and the lookup is canceled with the last one`() async {
        let (flights, gate, deadline) = (SingleFlight<String, Bool, Void>(), Gate(), Deadline())
        let wasCanceled = AsyncStream<Bool>.makeStream()
        async let value = flights.value(for: "a", deadline: deadline) {
            await gate.pass()
            wasCanceled.continuation.yield(Task.isCancelled)
            return true
        }
        for await _ in gate.started.stream { break }
        deadline.pass()
        #expect(await value == nil)
        gate.open()
        for await canceled in wasCanceled.stream {
            #expect(canceled)
            break
        }
        #expect(await flights.value(for: "a", deadline: deadline) { true } == nil)
    }

    @Test func `Work ends with its owner, which starts no more`() async {
        let (tasks, gate) = (OwnedTasks<String>(), Gate())
        let wasCanceled = AsyncStream<Bool>.makeStream()
        tasks.run {
            await gate.pass()
            wasCanceled.continuation.yield(Task.isCancelled)
        }
        for await _ in gate.started.stream { break }
        tasks.shutdown()
        gate.open()
        await tasks.drain()
        for await canceled in wasCanceled.stream {
            #expect(canceled)
            break
        }
        tasks.run { Issue.record("Started after the end.") }
        await tasks.drain()
    }

    @Test func `Work with a key is dropped while the key has some, and any work beyond the capacity`() async {
        let (tasks, gate) = (OwnedTasks<String>(capacity: 2), Gate())
        let names = Mutex<[String]>([])
        let run = { @Sendable (key: String?, name: String) in
            tasks.run(key) {
                await gate.pass()
                names.withLock { $0.append(name) }
            }
        }
        run("a", "first")
        run("a", "dropped")
        run(nil, "second")
        run("b", "dropped")
        gate.open()
        await tasks.drain()
        run("a", "third")
        await tasks.drain()
        #expect(names.withLock { $0.sorted() } == ["first", "second", "third"])
    }
}
