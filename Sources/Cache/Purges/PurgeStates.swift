import DarkroomHTTPCaching
import DarkroomStore
import Foundation
import Synchronization

/// The sources that other servers may have purged while this server could not read their purges, or not yet.
///
/// Each of these sources is revalidated with its origin before it is used. From then on it may be used again until the
/// next ``begin(at:)``: another server may still reach the store and purge the source again.
final class UnconfirmedRecords: Sendable {
    /// Records that the origin confirmed up to this time are suspect, in milliseconds since 1970; the least number = no
    /// records.
    private let end: Atomic<Int64>
    private let includesDisk: Atomic<Bool>
    private static let none = Int64.min

    /// - Parameter includesDisk: whether all entries on disk are suspect until ``clearDisk()`` is called.
    init(includesDisk: Bool) {
        end = Atomic(Self.none)
        self.includesDisk = Atomic(includesDisk)
    }

    /// Marks all records suspect that were confirmed until this moment of the wall clock.
    func begin(at now: Date) {
        end.store(Int64((now.timeIntervalSince1970 * 1000).rounded(.up)), ordering: .releasing)
    }

    /// The purges of the time in which this server was stopped have been carried out.
    func clearDisk() { includesDisk.store(false, ordering: .releasing) }

    /// The purges of other servers have been carried out, except for those of the last seconds.
    func clear() { end.store(Self.none, ordering: .releasing) }

    /// - Parameter isOnDisk: whether the record was read from disk.
    func concerns(_ record: SourceRecord, isOnDisk: Bool) -> Bool {
        if isOnDisk, includesDisk.load(ordering: .acquiring) { return true }
        let end = end.load(ordering: .acquiring)
        return end != Self.none && record.response.requestedAt.timeIntervalSince1970 * 1000 <= Double(end)
    }
}

/// The orders up to which purges that reached this server outdate the records of sources.
///
/// A purge does not find entries that other servers are about to store. Records are therefore checked when they are
/// read: a record up to the order of a purge that concerns it is not used.
final class PurgedOrders: Sendable {
    /// The orders up to which records are not used, or only after validation.
    struct Orders: Hashable, Sendable {
        var removed: Int64 = -1
        var stale: Int64 = -1

        /// The least order of a record that no known purge concerns.
        var next: Int64 { max(removed, stale) + 1 }

        mutating func include(_ order: Int64, isSoft: Bool) {
            if isSoft { stale = max(stale, order) } else { removed = max(removed, order) }
        }

        mutating func include(_ other: Orders?) {
            guard let other else { return }
            removed = max(removed, other.removed)
            stale = max(stale, other.stale)
        }
    }

    private struct State {
        var everything = Orders()
        var sources: [StoreKey: Orders] = [:]
        var hosts: [String: Orders] = [:]
        var tags: [String: Orders] = [:]
        var prefixes: [String: Orders] = [:]

        var count: Int { sources.count + hosts.count + tags.count + prefixes.count }
    }

    /// The number of targets that are recorded separately. Beyond it, a purge counts as a purge of everything.
    private static let capacity = 100_000

    private let state = Mutex(State())

    /// - Parameter source: the key of the source, for a target that is one.
    func add(_ target: PurgeTarget, source: StoreKey?, order: Int64, isSoft: Bool) {
        state.withLock { state in
            guard state.count < Self.capacity else { return state.everything.include(order, isSoft: isSoft) }
            switch target {
            case .source: if let source { state.sources[source, default: Orders()].include(order, isSoft: isSoft) }
            case .host(let host): state.hosts[host, default: Orders()].include(order, isSoft: isSoft)
            case .tag(let tag): state.tags[tag, default: Orders()].include(order, isSoft: isSoft)
            case .prefix(let prefix): state.prefixes[prefix, default: Orders()].include(order, isSoft: isSoft)
            case .everything: state.everything.include(order, isSoft: isSoft)
            }
        }
    }

    /// The orders for a record of this source.
    func orders(of source: StoreKey, _ record: SourceRecord) -> Orders {
        state.withLock { state in
            var orders = state.everything
            orders.include(state.sources[source])
            if !state.hosts.isEmpty { orders.include(state.hosts[record.host]) }
            if !state.tags.isEmpty { for tag in record.response.tags { orders.include(state.tags[tag]) } }
            for (prefix, found) in state.prefixes where record.url.hasPrefix(prefix) { orders.include(found) }
            return orders
        }
    }

    /// Removes purges of single sources up to this order: the store has marks of them.
    func removeSources(upTo order: Int64) {
        state.withLock { state in
            state.sources = state.sources.filter { max($0.value.removed, $0.value.stale) > order }
        }
    }
}
