import DarkroomOrigin
import DarkroomStore
import DarkroomWaiting
import Synchronization

/// Runs work that no request waits for: one task per source, and a bounded number in total.
final class BackgroundWork: Sendable {
    private struct State {
        var tasks: [StoreKey: Task<Void, Never>] = [:]
        var isClosed = false
    }

    /// The most tasks at once. Beyond it work is dropped; a later request for the source starts it again.
    private static let capacity = 64

    private let state = Mutex(State())
    private let deadlines: DeadlineTimer

    init(deadlines: DeadlineTimer) {
        self.deadlines = deadlines
    }

    /// Starts work unless the source already has some. Its errors are ignored.
    func run(_ source: StoreKey, _ work: @escaping @Sendable () async throws(PipelineError) -> Void) {
        state.withLock { state in
            guard !state.isClosed, state.tasks[source] == nil, state.tasks.count < Self.capacity else { return }
            state.tasks[source] = Task {
                try? await withDeadline(deadlines, expired: PipelineError.timedOut, work)
                finish(source)
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

    private func finish(_ source: StoreKey) {
        state.withLock { $0.tasks[source] = nil }
    }
}
