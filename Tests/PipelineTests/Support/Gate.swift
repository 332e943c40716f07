import Synchronization

/// A value that tests wait for: each change resumes the tasks whose condition it fulfills.
final class Watched<Value: Sendable>: Sendable {
    private struct Waiter {
        let condition: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var waiters: [Int: Waiter] = [:]
        var lastNumber = 0
    }

    private let state: Mutex<State>

    init(_ value: Value) {
        state = Mutex(State(value: value))
    }

    var value: Value { state.withLock(\.value) }

    /// Changes the value.
    @discardableResult
    func change<Output: Sendable>(_ body: (inout Value) -> Output) -> Output {
        let (result, fulfilled) = state.withLock { state in
            let result = body(&state.value)
            let fulfilled = state.waiters.filter { $0.value.condition(state.value) }
            for number in fulfilled.keys { state.waiters[number] = nil }
            return (result, fulfilled.values.map(\.continuation))
        }
        for continuation in fulfilled { continuation.resume() }
        return result
    }

    /// Returns once the value fulfills the condition, or the task is canceled.
    func wait(until condition: @escaping @Sendable (Value) -> Bool) async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isFulfilled = state.withLock { state in
                    if condition(state.value) || Task.isCancelled { return true }
                    state.waiters[number] = Waiter(condition: condition, continuation: continuation)
                    return false
                }
                if isFulfilled { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: number) }?.continuation.resume()
        }
    }
}

/// Holds tasks back until the test opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        var last = 0
    }

    private let state = Watched(State())

    /// Returns once the gate is open; false if the task was canceled before.
    @discardableResult
    func pass() async -> Bool {
        let number = state.change { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.change { state -> Bool? in
                    if state.isOpen { return true }
                    if Task.isCancelled { return false }
                    state.waiting[number] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.change { $0.waiting.removeValue(forKey: number) }?.resume(returning: false)
        }
    }

    /// Returns once the gate holds back this number of tasks.
    func holds(_ count: Int) async { await state.wait { $0.waiting.count == count } }

    /// Holds tasks back again.
    func close() {
        state.change { $0.isOpen = false }
    }

    func open() {
        let waiting = state.change { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return Array(state.waiting.values)
        }
        for continuation in waiting { continuation.resume(returning: true) }
    }
}

/// Polls a condition on state inside the pipeline whose changes no event announces. Prefer `Watched.wait`, or
/// `Task.immediate`, whose work has begun when it returns. The test's time limit ends the wait.
func until(_ condition: @Sendable () async -> Bool) async {
    while await !condition(), !Task.isCancelled { await Task.yield() }
}

/// A counter that tasks share.
final class Counter: Sendable {
    private let number = Watched(0)

    var value: Int { number.value }

    /// Returns once the count is this high.
    func reaches(_ count: Int) async { await number.wait { $0 >= count } }

    @discardableResult
    func add() -> Int {
        number.change { number in
            number += 1
            return number
        }
    }
}

/// Lines that tasks write one after the other.
final class Journal: Sendable {
    private let written = Mutex<[String]>([])

    var lines: [String] { written.withLock { $0 } }

    func append(_ line: String) { written.withLock { $0.append(line) } }
}
