import DarkroomStore
import Synchronization

/// A source's state with respect to purges; equal values mean that no purge happened in between.
package struct PurgeEpoch: Hashable, Sendable {
    fileprivate let all: UInt64
    fileprivate let source: UInt64
}

/// Counters that advance with each purge, so that work that started before a purge stores nothing after it.
final class PurgeEpochs: Sendable {
    private struct State {
        var all: UInt64 = 0
        var sources: [StoreKey: UInt64] = [:]
    }

    /// The number of sources with counters of their own. Beyond it a purge affects all work in progress, which then
    /// is not stored.
    private static let capacity = 10_000

    private let state = Mutex(State())

    func current(of source: StoreKey) -> PurgeEpoch {
        state.withLock { PurgeEpoch(all: $0.all, source: $0.sources[source] ?? 0) }
    }

    func isCurrent(_ epoch: PurgeEpoch, of source: StoreKey) -> Bool {
        current(of: source) == epoch
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
