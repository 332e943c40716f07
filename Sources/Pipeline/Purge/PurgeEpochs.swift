import DarkroomStore
import Synchronization

/// Numbers that rise with each purge, so that work which began before it stores nothing after it.
final class Generations: Sendable {
    /// A moment in the life of one source.
    struct Moment: Hashable, Sendable {
        fileprivate let all: UInt64
        fileprivate let source: UInt64
    }

    private struct State {
        var all: UInt64 = 0
        var sources: [StoreKey: UInt64] = [:]
    }

    /// How many sources are told apart; beyond that a purge counts for everything under way, which costs it its place in the caches.
    private static let capacity = 10_000

    private let state = Mutex(State())

    func now(of source: StoreKey) -> Moment {
        state.withLock { Moment(all: $0.all, source: $0.sources[source] ?? 0) }
    }

    func isCurrent(_ moment: Moment, of source: StoreKey) -> Bool {
        now(of: source) == moment
    }

    func advance(_ source: StoreKey) {
        state.withLock { state in
            if state.sources.count >= Self.capacity {
                state.all += 1
                state.sources = [:]
            }
            state.sources[source, default: 0] += 1
        }
    }

    func advanceAll() {
        state.withLock { state in
            state.all += 1
            state.sources = [:]
        }
    }
}
