import DarkroomHTTPCaching
import DarkroomStore
import Synchronization

/// The orders up to which purges that reached this server outdate the records of sources.
///
/// A purge does not find entries that other servers are about to store. Records are therefore checked when they are
/// read: a record up to the order of a purge that concerns it is not used.
final class PurgedOrders: Sendable {
    /// The orders up to which records are not used, or only after validation.
    struct Orders: Hashable, Sendable {
        var removed: Int64 = -1
        var stale: Int64 = -1
        /// The order up to which the origin has to confirm records, since it is not known which purges concern them.
        var doubtful: Int64 = -1

        /// The order up to which purges concern records.
        var last: Int64 { max(removed, stale, doubtful) }

        /// The least order of a record that no known purge concerns.
        var next: Int64 { last + 1 }

        mutating func include(_ order: Int64, isSoft: Bool) {
            if isSoft { stale = max(stale, order) } else { removed = max(removed, order) }
        }

        mutating func include(_ other: Orders?) {
            guard let other else { return }
            removed = max(removed, other.removed)
            stale = max(stale, other.stale)
            doubtful = max(doubtful, other.doubtful)
        }
    }

    private struct State {
        var lasting = PurgeSummary()
        var sources: [StoreKey: Orders] = [:]
    }

    /// The number of targets that are recorded separately. Beyond it, a purge makes everything doubtful.
    private static let capacity = 100_000

    private let state = Mutex(State())

    /// - Parameter source: the key of the source, for a target that is one.
    func add(_ target: PurgeTarget, source: StoreKey?, order: Int64, isSoft: Bool) {
        state.withLock { state in
            var orders = Orders()
            let isKnown = source.map { state.sources[$0] != nil } ?? state.lasting.contains(target)
            guard isKnown || state.sources.count + state.lasting.count < Self.capacity else {
                orders.doubtful = order
                return state.lasting.everything.include(orders)
            }
            orders.include(order, isSoft: isSoft)
            if let source { state.sources[source, default: Orders()].include(orders) }
            state.lasting.include(orders, of: target)
        }
    }

    /// From here on, origins have to confirm all records up to this order.
    func doubt(upTo order: Int64) {
        state.withLock { $0.lasting.everything.include(Orders(doubtful: order)) }
    }

    /// The orders for a record of this source.
    func orders(of source: StoreKey, _ record: SourceRecord) -> Orders {
        state.withLock { state in
            let lasting = state.lasting
            var orders = lasting.everything
            orders.include(state.sources[source])
            if !lasting.hosts.isEmpty { orders.include(lasting.hosts[record.host]) }
            if !lasting.tags.isEmpty { for tag in record.response.tags { orders.include(lasting.tags[tag]) } }
            for (prefix, found) in lasting.prefixes where record.url.hasPrefix(prefix) { orders.include(found) }
            return orders
        }
    }

    /// Removes purges of single sources up to this order: the store has marks of them.
    func removeSources(upTo order: Int64) {
        state.withLock { state in
            state.sources = state.sources.filter { $0.value.last > order }
        }
    }

    /// Removes targets that were purged only up to this order: no older object is used.
    func removeLasting(upTo order: Int64) {
        state.withLock { $0.lasting = $0.lasting.after(order) }
    }

    // MARK: Summaries

    /// Adds the purges of a summary.
    func include(_ summary: PurgeSummary) {
        state.withLock { $0.lasting.include(summary) }
    }

    /// The lasting purges.
    var summary: PurgeSummary { state.withLock(\.lasting) }
}
