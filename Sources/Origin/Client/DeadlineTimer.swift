import Synchronization

/// Deadlines of work that all has the same time limit, at the cost of a table entry each: they pass in the order in
/// which they began, so one sleeping task serves them all.
package final class DeadlineTimer: Sendable {
    /// What happens at a deadline.
    package typealias Action = @Sendable () -> Void

    private struct Pending {
        let deadline: Duration
        let action: Action
    }

    /// Deadlines are numbered as they begin.
    private struct State {
        var pending: [Int: Pending] = [:]
        /// The number of the first deadline that may be pending.
        var first = 0
        var next = 0
        var sleeper: Task<Void, Never>?

        /// The first deadline that is still pending.
        mutating func head() -> Pending? {
            while first < next {
                if let head = pending[first] { return head }
                first += 1
            }
            return nil
        }
    }

    private let limit: Duration
    private let sleep: @Sendable (Duration) async throws -> Void
    /// The time since an arbitrary moment.
    private let elapsed: @Sendable () -> Duration
    private let state = Mutex(State())

    /// - Parameter limit: the time from ``begin(_:)`` to the deadline.
    package init(_ limit: Duration, clock: any Clock<Duration>) {
        self.limit = limit
        sleep = { try await clock.sleep(for: $0) }
        elapsed = Self.stopwatch(clock)
    }

    deinit {
        state.withLock(\.sleeper)?.cancel()
    }

    private static func stopwatch<C: Clock<Duration>>(_ clock: C) -> @Sendable () -> Duration {
        let start = clock.now
        return { start.duration(to: clock.now) }
    }

    /// The number of deadlines that are neither over nor ended.
    var count: Int { state.withLock(\.pending.count) }

    /// Begins the time until a deadline.
    ///
    /// - Parameter action: called once if the deadline passes before ``end(_:)``. Must return at once.
    /// - Returns: the number to end it with.
    package func begin(_ action: @escaping Action) -> Int {
        let deadline = elapsed() + limit
        return state.withLock { state in
            let number = state.next
            state.next += 1
            state.pending[number] = Pending(deadline: deadline, action: action)
            if state.sleeper == nil { state.sleeper = sleeper(until: deadline) }
            return number
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
                deadline = self?.passed(next)
            }
        }
    }

    /// Calls the actions of all deadlines up to one that has passed.
    ///
    /// - Returns: the next deadline; nil if none is pending, which ends the sleeper.
    private func passed(_ deadline: Duration) -> Duration? {
        let (actions, next) = state.withLock { state -> ([Action], Duration?) in
            var actions: [Action] = []
            while let head = state.head(), head.deadline <= deadline {
                actions.append(head.action)
                state.pending[state.first] = nil
            }
            let next = state.head()?.deadline
            if next == nil { state.sleeper = nil }
            return (actions, next)
        }
        for action in actions { action() }
        return next
    }
}
