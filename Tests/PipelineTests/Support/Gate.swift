import Synchronization

/// Holds tasks back until the test opens it.
final class Gate: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        var last = 0
    }

    private let state = Mutex(State())

    /// Returns once the gate is open; false when the task was cancelled before.
    @discardableResult
    func pass() async -> Bool {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let answer = state.withLock { state -> Bool? in
                    if state.isOpen { return true }
                    if Task.isCancelled { return false }
                    state.waiting[number] = continuation
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume(returning: false)
        }
    }

    /// How many tasks it holds back.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Holds tasks back again.
    func close() {
        state.withLock { $0.isOpen = false }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume(returning: true) }
    }
}

/// Yields until the condition holds; the test's time limit ends it where it never does.
func until(_ condition: @Sendable () async -> Bool) async {
    while await !condition() { await Task.yield() }
}

/// A counter that tasks share.
final class Counter: Sendable {
    private let number = Mutex(0)

    var value: Int { number.withLock { $0 } }

    @discardableResult
    func add() -> Int {
        number.withLock { number in
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
