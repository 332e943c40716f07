import Synchronization

/// How urgent shared work is, and for whom: the priority of its most urgent waiter so far, the time of the most patient, and
/// their clients. All of it only ever grows.
final class Urgency: Sendable {
    private struct State {
        var level: Priority
        var clients: [String]
        var deadline: ContinuousClock.Instant?
        /// Since when it stands in the queue.
        var queuedAt: ContinuousClock.Instant?
        /// How long it stood there before.
        var waited = Duration.zero
        var followers: [Urgency] = []
    }

    /// Clients of one piece of work that count; more of them make no difference.
    private static let maxClients = 8

    private let state: Mutex<State>

    /// - Parameters:
    ///   - client: whom the work is for; "" = nobody in particular.
    ///   - deadline: when nobody needs it any more; nil = at no time.
    init(_ level: Priority, client: String = "", deadline: ContinuousClock.Instant? = nil) {
        state = Mutex(State(level: level, clients: [client], deadline: deadline))
    }

    private init(_ state: State) {
        self.state = Mutex(state)
    }

    var level: Priority { state.withLock(\.level) }

    /// Those who wait for it, at least one.
    var clients: [String] { state.withLock(\.clients) }

    /// When the last of them has lost patience; nil = at no time.
    var deadline: ContinuousClock.Instant? { state.withLock(\.deadline) }

    /// Whether this work, or what it waits for, stands in the queue for a pixel thread. It is also true of work that left the
    /// queue since nobody waited any more.
    var isQueued: Bool {
        let (isQueued, followers) = state.withLock { ($0.queuedAt != nil, $0.followers) }
        return isQueued || followers.contains(where: \.isQueued)
    }

    /// How long this work, or what it waits for, has stood there up to now.
    var timeQueued: Duration {
        let (waited, followers) = state.withLock { state in
            (state.waited + (state.queuedAt?.duration(to: .now) ?? .zero), state.followers)
        }
        return followers.reduce(waited) { max($0, $1.timeQueued) }
    }

    func noteQueued(_ isQueued: Bool) {
        state.withLock { state in
            state.waited += state.queuedAt?.duration(to: .now) ?? .zero
            state.queuedAt = isQueued ? .now : nil
        }
    }

    /// Raises this work, and whatever it waits for.
    func raise(to level: Priority) {
        let followers = state.withLock { state -> [Urgency] in
            guard level > state.level else { return [] }
            state.level = level
            return state.followers
        }
        for follower in followers { follower.raise(to: level) }
    }

    /// Work that this work waits for is at least as urgent, for at least as many.
    func carry(_ other: Urgency) {
        let mine = state.withLock { state in
            state.followers.append(other)
            return state
        }
        other.raise(to: mine.level)
        other.serve(mine.clients, until: mine.deadline)
    }

    /// Work of its own that this work waits for.
    func makeFollower() -> Urgency {
        let follower = state.withLock { state in
            Urgency(State(level: state.level, clients: state.clients, deadline: state.deadline))
        }
        carry(follower)
        return follower
    }

    private func serve(_ clients: [String], until deadline: ContinuousClock.Instant?) {
        let followers = state.withLock { state -> [Urgency] in
            let room = Self.maxClients - state.clients.count
            state.clients += clients.filter { !state.clients.contains($0) }.prefix(room)
            if let ours = state.deadline { state.deadline = deadline.map { max($0, ours) } }
            return state.followers
        }
        for follower in followers { follower.serve(clients, until: deadline) }
    }
}
