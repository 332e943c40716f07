import DarkroomHTTPCaching
import DarkroomStore
import Synchronization

/// The purges that this server is announcing or carrying out. Until they end, requests still find records from before
/// them, which must not be stored in the shared tier as if they were from after them.
final class PurgesUnderWay: Sendable {
    private struct Purge {
        let target: PurgeTarget
        let source: StoreKey?
        let order: Int64
        let began = ContinuousClock.now
    }

    private struct State {
        var purges: [UInt64: Purge] = [:]
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// Begins a purge. Precedes the invalidation of work in progress.
    ///
    /// - Parameters:
    ///   - source: the key of the source, for a target that is one.
    ///   - order: the order up to which it concerns records.
    /// - Returns: the number for ``end(_:)``.
    func begin(_ target: PurgeTarget, source: StoreKey?, order: Int64) -> UInt64 {
        state.withLock { state in
            state.last += 1
            state.purges[state.last] = Purge(target: target, source: source, order: order)
            return state.last
        }
    }

    /// Ends a purge. Follows the last invalidation of work.
    func end(_ number: UInt64) { state.withLock { _ = $0.purges.removeValue(forKey: number) } }

    /// Whether a purge under way may concern a record of this order.
    func concern(_ record: SourceRecord, of source: StoreKey, order: Int64) -> Bool {
        state.withLock { state in
            state.purges.values.contains { purge in
                guard order <= purge.order, record.requestedAt.map({ $0 < purge.began }) ?? true else { return false }
                if let purged = purge.source { return purged == source }
                return purge.target.matches(url: record.url, host: record.host, tags: record.response.tags)
            }
        }
    }
}
