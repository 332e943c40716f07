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
        var purges: PurgeSummary
        /// Whether the purges of single sources are known after the order that `purges` has.
        var knowsSources = false

        init() {
            purges = PurgeSummary()
            purges.sourcesAfter = -1
        }
    }

    /// The number of sources, and of other targets, that are recorded separately. Beyond it, a purge makes everything
    /// doubtful.
    private static let capacity = 100_000
    /// With more sources, about 8 MB, the first are forgotten as soon as possible.
    private static let maxSources = capacity / 2

    private let state = Mutex(State())

    /// - Parameter source: the key of the source, for a target that is one.
    func add(_ target: PurgeTarget, source: StoreKey?, order: Int64, isSoft: Bool) {
        state.withLock { state in
            var orders = Orders()
            let isKnown = source.map { state.purges.sources[$0] != nil } ?? state.purges.contains(target)
            let count = source == nil ? state.purges.count : state.purges.sources.count
            guard isKnown || count < Self.capacity else {
                orders.doubtful = order
                return state.purges.everything.include(orders)
            }
            orders.include(order, isSoft: isSoft)
            if let source { state.purges.sources[source, default: Orders()].include(orders) }
            state.purges.include(orders, of: target)
        }
    }

    /// From here on, origins have to confirm all records up to this order.
    func doubt(upTo order: Int64) {
        state.withLock { $0.purges.everything.include(Orders(doubtful: order)) }
    }

    func orders(of source: StoreKey, _ record: SourceRecord) -> Orders {
        state.withLock { $0.purges.orders(of: source, record) }
    }

    /// Whether all purges are known that may concern a record of this order, and none does. Such a record may be used
    /// without the marks that purges leave in the store.
    func permit(_ order: Int64, of source: StoreKey, _ record: SourceRecord) -> Bool {
        state.withLock { state in
            state.knowsSources && state.purges.sourcesAfter < order
                && state.purges.orders(of: source, record).last < order
        }
    }

    // MARK: Single sources

    /// Records that all purges of single sources after this order have been added, as far as they were not forgotten
    /// meanwhile.
    func recordSources(after order: Int64) {
        state.withLock { state in
            state.purges.sourcesAfter = max(state.purges.sourcesAfter, order)
            state.knowsSources = true
        }
    }

    /// Forgets purges of single sources up to this order, since others up to it may be unknown.
    func forgetSources(upTo order: Int64) { state.withLock { $0.purges.forgetSources(upTo: order) } }

    /// Forgets the first of very many purges of single sources: the store has marks of the purges up to this order.
    func trimSources(upTo order: Int64) {
        state.withLock { state in
            guard state.purges.sources.count > Self.maxSources else { return }
            let orders = state.purges.sources.values.map(\.last).sorted()
            state.purges.forgetSources(upTo: min(order, orders[orders.count - Self.maxSources / 2]))
        }
    }

    /// Removes targets that were purged only up to this order: no older object is used.
    func removeTargets(upTo order: Int64) {
        state.withLock { $0.purges = $0.purges.after(order) }
    }

    // MARK: Summaries

    func include(_ summary: PurgeSummary) {
        state.withLock { $0.purges.include(summary) }
    }

    /// All purges that are known.
    var summary: PurgeSummary {
        state.withLock { state in
            var summary = state.purges
            if !state.knowsSources { summary.sourcesAfter = .max }
            return summary
        }
    }
}

extension PurgeSummary {
    fileprivate func orders(of source: StoreKey, _ record: SourceRecord) -> Orders {
        var orders = everything
        orders.include(sources[source])
        if !hosts.isEmpty { orders.include(hosts[record.host]) }
        if !tags.isEmpty { for tag in record.response.tags { orders.include(tags[tag]) } }
        for (prefix, found) in prefixes where record.url.hasPrefix(prefix) { orders.include(found) }
        return orders
    }
}

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
