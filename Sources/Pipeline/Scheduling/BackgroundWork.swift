import DarkroomStore
import Synchronization

/// Work that no request waits for: one piece at a time for each source, and not too many in all.
final class BackgroundWork: Sendable {
    private struct State {
        var tasks: [StoreKey: Task<Void, Never>] = [:]
        var isClosed = false
    }

    /// What comes beyond is left to a later request for the same source.
    private static let capacity = 64

    private let state = Mutex(State())
    private let timeout: Duration
    private let clock: any Clock<Duration>

    init(timeout: Duration, clock: any Clock<Duration>) {
        self.timeout = timeout
        self.clock = clock
    }

    /// Begins the work unless the same source is worked on. Whatever fails is somebody else's to remember.
    func run(_ source: StoreKey, _ work: @escaping @Sendable () async throws(PipelineError) -> Void) {
        state.withLock { state in
            guard !state.isClosed, state.tasks[source] == nil, state.tasks.count < Self.capacity else { return }
            state.tasks[source] = Task {
                try? await withDeadline(timeout, clock: clock, work)
                end(source)
            }
        }
    }

    /// How many pieces are under way.
    var count: Int { state.withLock { $0.tasks.count } }

    /// Cancels what is under way and takes no more.
    func shutdown() {
        let tasks = state.withLock { state in
            state.isClosed = true
            return state.tasks.values
        }
        for task in tasks { task.cancel() }
    }

    private func end(_ source: StoreKey) {
        state.withLock { $0.tasks[source] = nil }
    }
}
