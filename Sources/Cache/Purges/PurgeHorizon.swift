import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomStore
import Synchronization

/// Up to which order the records of sources are outdated by purges that reached this server.
///
/// A purge does not find what other servers are about to store. So records are judged when they are read: those up to
/// the order of a purge that concerns them are not used.
final class PurgeHorizon: Sendable {
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

    /// The number of targets that are told apart. Beyond it a purge counts as one of everything.
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

    /// Forgets purges of single sources up to this order: the store has marks of them.
    func removeSources(upTo order: Int64) {
        state.withLock { state in
            state.sources = state.sources.filter { max($0.value.removed, $0.value.stale) > order }
        }
    }
}
