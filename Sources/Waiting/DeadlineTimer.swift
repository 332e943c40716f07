import Synchronization

/// Deadlines that cost a table entry each: one sleeping task serves all of them.
package final class DeadlineTimer: Sendable {
    /// What happens at a deadline.
    package typealias Action = @Sendable () -> Void

    private typealias Pending = (deadline: Duration, action: Action)

    /// Deadlines are numbered as they begin.
    private struct State {
        var pending: [Int: Pending] = [:]
        var lastNumber = 0
        /// Sleeps until the first deadline that was pending when it last looked.
        var sleeper: (task: Task<Void, Never>, until: Duration)?
    }

    private let limit: Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    /// The time since an arbitrary moment.
    private let elapsed: @Sendable () -> Duration
    private let state = Mutex(State())

    /// - Parameter limit: the usual time from ``begin(after:_:)`` to the deadline; zero if each names its own.
    package init(_ limit: Duration = .zero, clock: any Clock<Duration>) {
        self.limit = limit
        sleep = { try await clock.sleep(for: $0) }
        elapsed = clock.stopwatch()
    }

    deinit {
        state.withLock(\.sleeper)?.task.cancel()
    }

    /// The number of deadlines that are neither over nor ended.
    var count: Int { state.withLock(\.pending.count) }

    /// Begins the time until a deadline.
    ///
    /// - Parameters:
    ///   - limit: the time, if it is not the usual one.
    ///   - action: called once if the deadline passes before ``end(_:)``. Must return at once.
    /// - Returns: the number to end it with.
    package func begin(after limit: Duration? = nil, _ action: @escaping Action) -> Int {
        let deadline = elapsed() + (limit ?? self.limit)
        return state.withLock { state in
            state.lastNumber += 1
            state.pending[state.lastNumber] = (deadline, action)
            if state.sleeper.map({ deadline < $0.until }) ?? true {
                state.sleeper?.task.cancel()
                state.sleeper = (sleeper(until: deadline), deadline)
            }
            return state.lastNumber
        }
    }

    /// Ends the time: its action is not called from now on, unless that is happening at this moment.
    package func end(_ number: Int) {
        state.withLock { _ = $0.pending.removeValue(forKey: number) }
    }

    private func sleeper(until deadline: Duration) -> Task<Void, Never> {
        Task { [weak self, sleep, elapsed] in
            var deadline: Duration? = deadline
            while let next = deadline {
                do { try await sleep(max(next - elapsed(), .zero)) } catch { return }
                deadline = self?.passed(max(next, elapsed()))
            }
        }
    }

    /// Calls the actions of all deadlines up to this time, the earliest first.
    ///
    /// - Returns: the next deadline; nil ends the sleeper, because none is pending or another sleeper has taken over.
    private func passed(_ time: Duration) -> Duration? {
        let (due, next) = state.withLock { state -> ([Int: Pending], Duration?) in
            // Canceled under this lock.
            if Task.isCancelled { return ([:], nil) }
            let due = state.pending.filter { $0.value.deadline <= time }
            for number in due.keys { state.pending[number] = nil }
            let next = state.pending.values.lazy.map(\.deadline).min()
            state.sleeper = next.flatMap { next in state.sleeper.map { ($0.task, next) } }
            return (due, next)
        }
        for (_, pending) in due.sorted(by: { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }) {
            pending.action()
        }
        return next
    }
}

extension Clock where Duration == Swift.Duration {
    /// Measures the time from this call on.
    package func stopwatch() -> @Sendable () -> Duration {
        let start = now
        return { start.duration(to: now) }
    }
}
