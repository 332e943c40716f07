import Synchronization

/// Work that continues after the request that started it, until its owner ends it.
package final class OwnedTasks<Key: Hashable & Sendable>: Sendable {
    private struct State {
        var tasks: [Int: Task<Void, Never>] = [:]
        var keys: Set<Key> = []
        var lastNumber = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let capacity: Int

    /// - Parameter capacity: the most tasks at once; further work is dropped.
    package init(capacity: Int = .max) {
        self.capacity = capacity
    }

    /// Starts work, unless the owner has ended or has as many tasks as it may have.
    ///
    /// - Parameter key: work is dropped while other work with this key is in progress; nil = never.
    package func run(_ key: Key? = nil, _ work: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isClosed, state.tasks.count < capacity, key.map(state.keys.contains) != true else { return }
            if let key { state.keys.insert(key) }
            state.lastNumber += 1
            let number = state.lastNumber
            state.tasks[number] = Task { [self] in
                await work()
                self.state.withLock { state in
                    state.tasks[number] = nil
                    if let key { state.keys.remove(key) }
                }
            }
        }
    }

    /// Returns once the work that is in progress now has finished.
    package func drain() async {
        for task in state.withLock({ Array($0.tasks.values) }) { await task.value }
    }

    /// Cancels all work and starts no more.
    package func shutdown() {
        let tasks = state.withLock { state in
            state.isClosed = true
            return state.tasks.values
        }
        for task in tasks { task.cancel() }
    }
}
