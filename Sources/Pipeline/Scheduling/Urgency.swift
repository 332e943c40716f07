import DarkroomRequests
import DarkroomWaiting
import Synchronization

/// The urgency of shared work: the highest priority and the latest deadline of its waiters so far, and their clients.
/// It only ever rises.
final class Urgency: Sendable {
    /// The values that decide on the place of a job in the queue.
    struct Rating {
        let level: Priority
        let clients: [String]
        let deadline: ContinuousClock.Instant?
        /// The ``Urgency/revision`` of these values.
        let revision: Int
    }

    private struct State {
        var level: Priority
        var clients: [String]
        var deadline: ContinuousClock.Instant?
        /// When it entered the pixel queue; nil if it is not in the queue.
        var queuedAt: ContinuousClock.Instant?
        /// The time it spent in the queue before.
        var waited = Duration.zero
        /// The work that this work waits for.
        var dependencies: [Urgency] = []
    }

    /// The maximum number of clients that are tracked for one piece of work.
    private static let maxClients = 8

    private let state: Mutex<State>
    /// Called after clients have joined the work.
    private let onJoin: @Sendable () -> Void
    private let changes = Atomic(0)

    /// - Parameters:
    ///   - client: the client that the work is for; the empty string counts as one client.
    ///   - deadline: when the result is no longer needed; nil = never.
    init(_ level: Priority, client: String = "", deadline: ContinuousClock.Instant? = nil) {
        state = Mutex(State(level: level, clients: [client], deadline: deadline))
        onJoin = {}
    }

    private init(_ state: State, onJoin: @escaping @Sendable () -> Void) {
        self.state = Mutex(state)
        self.onJoin = onJoin
    }

    var level: Priority { state.withLock(\.level) }

    /// The clients that wait for the work; at least one.
    var clients: [String] { state.withLock(\.clients) }

    /// The latest deadline of the waiters; nil = none.
    var deadline: ContinuousClock.Instant? { state.withLock(\.deadline) }

    /// The number of times that the rating has changed. Read without a lock.
    var revision: Int { changes.load(ordering: .acquiring) }

    var rating: Rating {
        state.withLock { state in
            Rating(level: state.level, clients: state.clients, deadline: state.deadline, revision: revision)
        }
    }

    /// Whether this work, or work that it waits for, is in the pixel queue. Also true for work that was removed from
    /// the queue because its last waiter left.
    var isQueued: Bool {
        let (isQueued, dependencies) = state.withLock { ($0.queuedAt != nil, $0.dependencies) }
        return isQueued || dependencies.contains(where: \.isQueued)
    }

    /// The time that this work, or work that it waits for, has spent in the pixel queue so far.
    var timeQueued: Duration {
        let (waited, dependencies) = state.withLock { state in
            (state.waited + (state.queuedAt?.duration(to: .now) ?? .zero), state.dependencies)
        }
        return dependencies.reduce(waited) { max($0, $1.timeQueued) }
    }

    func setQueued(_ isQueued: Bool) {
        state.withLock { state in
            state.waited += state.queuedAt?.duration(to: .now) ?? .zero
            state.queuedAt = isQueued ? .now : nil
        }
    }

    /// Raises the priority of this work and of the work that it waits for.
    func raise(to level: Priority) { raise { $0.level = max($0.level, level) } }

    private func raise(_ change: (inout State) -> Void) {
        let (dependencies, hasJoined) = state.withLock { state in
            let before = state.clients.count
            change(&state)
            changes.add(1, ordering: .releasing)
            return (state.dependencies, state.clients.count > before)
        }
        for dependency in dependencies { dependency.raise(change) }
        if hasJoined { onJoin() }
    }

    /// Makes this work wait for other work, which inherits its urgency (priority donation).
    func donate(to other: Urgency) {
        let mine = state.withLock { state in
            state.dependencies.append(other)
            return state
        }
        other.raise { state in
            state.level = max(state.level, mine.level)
            let room = Self.maxClients - state.clients.count
            state.clients += mine.clients.filter { !state.clients.contains($0) }.prefix(room)
            if let deadline = state.deadline { state.deadline = mine.deadline.map { max($0, deadline) } }
        }
    }

    func makeDependency() -> Urgency { makeDependency(onJoin: {}) }

    /// Creates the urgency of work that this work waits for.
    ///
    /// - Parameter onJoin: called after further clients have joined that work.
    func makeDependency(onJoin: @escaping @Sendable () -> Void) -> Urgency {
        let dependency = state.withLock { state in
            Urgency(State(level: state.level, clients: state.clients, deadline: state.deadline), onJoin: onJoin)
        }
        donate(to: dependency)
        return dependency
    }
}

/// Runs work once for all callers that request the same key at the same time. Shared work has the highest urgency of
/// its callers.
typealias Coalescer<Key: Hashable & Sendable, Value: Sendable> =
    SingleFlight<Key, Result<Value, PipelineError>, Urgency>

extension SingleFlight where Traits == Urgency {
    /// Returns the value for a key, from work in progress or by starting `work`, and whether another caller had started
    /// the work. Shared work inherits the urgency of each caller, also when it rises later.
    func value<Product>(
        for key: Key, urgency: Urgency, deadline: Deadline? = nil,
        work: @escaping @Sendable (Urgency) async throws(PipelineError) -> Product
    ) async throws(PipelineError) -> (value: Product, isShared: Bool) where Value == Result<Product, PipelineError> {
        let answer = await value(
            for: key, deadline: deadline, traits: urgency.makeDependency, join: urgency.donate(to:)
        ) { urgency in
            await Result { () async throws(PipelineError) in try await work(urgency) }
        }
        guard let answer else { throw .cancelled }
        return (try answer.value.get(), answer.isShared)
    }
}
