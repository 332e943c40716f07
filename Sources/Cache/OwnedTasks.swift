import Synchronization

/// Work that continues after the request that started it, until its owner ends it.
final class OwnedTasks: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var lastNumber = 0
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Starts work, unless the owner has ended.
    func run(_ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isClosed else { return }
            state.lastNumber += 1
            let number = state.lastNumber
            state.tasks[number] = Task { [self] in
                await work()
                finish(number)
            }
        }
    }

    /// Returns once the work that is in progress now has finished.
    func drain() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }

    /// Cancels all work and starts no more.
    func shutdown() {
        let tasks = state.withLock { state in
            state.isClosed = true
            return state.tasks.values
        }
        for task in tasks { task.cancel() }
    }

    private func finish(_ number: Int) { state.withLock { $0.tasks[number] = nil } }
}
