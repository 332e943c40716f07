import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomStore
import Synchronization

/// A moment in the sequence of purges. Values of a source are equal if no purge in between may concern it, so that
/// requests with equal values may share their work.
package struct PurgeEpoch: Hashable, Sendable {
    fileprivate let last: UInt64
    /// The number of the last purge that may concern the source.
    fileprivate let concerning: UInt64

    package static func == (left: Self, right: Self) -> Bool { left.concerning == right.concerning }
    package func hash(into hasher: inout Hasher) { hasher.combine(concerning) }
}

/// The purges since this process started, by what they concern, so that work that started before a purge of its source
/// stores nothing after it.
///
/// Purges are numbered. Of very many purges, only the latest are known one by one; work that started before them counts
/// as purged.
final class PurgeEpochs: Sendable {
    private struct State {
        var last: UInt64 = 0
        /// The number of the last purge that concerns all sources.
        var everything: UInt64 = 0
        /// The number of the last purge of a tag.
        var anyTag: UInt64 = 0
        var sources: [StoreKey: UInt64] = [:]
        var hosts: [String: UInt64] = [:]
        var tags: [String: UInt64] = [:]
        var prefixes: [String: UInt64] = [:]

        /// Work from before the first purges counts as purged, so that they need not be known.
        mutating func removeFirst(upTo number: UInt64) {
            everything = max(everything, number)
            sources = sources.filter { $0.value > number }
            hosts = hosts.filter { $0.value > number }
            tags = tags.filter { $0.value > number }
            prefixes = prefixes.filter { $0.value > number }
        }
    }

    private static let capacity = 10_000
    /// Less, because each is compared.
    private static let maxPrefixes = 64

    private let state = Mutex(State())

    /// The present, for work of any source that no other request shares.
    var current: PurgeEpoch { state.withLock { PurgeEpoch(last: $0.last, concerning: 0) } }

    /// The present for a source. Which tags its origin will send is not known yet, so that any purge of a tag may
    /// concern it.
    func current(of source: StoreKey, _ url: SourceURL) -> PurgeEpoch {
        state.withLock { state in
            var number = max(state.everything, state.anyTag, state.sources[source] ?? 0)
            if !state.hosts.isEmpty { number = max(number, state.hosts[url.hostName] ?? 0) }
            if !state.prefixes.isEmpty {
                let address = url.canonical
                for (prefix, found) in state.prefixes where address.hasPrefix(prefix) { number = max(number, found) }
            }
            return PurgeEpoch(last: state.last, concerning: number)
        }
    }

    /// Whether no purge since then concerns the source of a request.
    ///
    /// - Parameter record: the record of the source; nil = unknown, so that any purge of a tag concerns it.
    func isCurrent(_ epoch: PurgeEpoch, of access: CacheAccess, _ record: SourceRecord?) -> Bool {
        state.withLock { state in
            func isLater(_ number: UInt64?) -> Bool { number.map { $0 > epoch.last } ?? false }
            guard isLater(state.last) else { return true }
            if isLater(state.everything) || isLater(state.sources[access.keys.source]) { return false }
            if isLater(state.anyTag), record?.response.tags.contains(where: { isLater(state.tags[$0]) }) ?? true {
                return false
            }
            // Sources with one key may have several addresses.
            if !state.hosts.isEmpty {
                if isLater(state.hosts[access.source.hostName]) { return false }
                if let record, isLater(state.hosts[record.host]) { return false }
            }
            let prefixes = state.prefixes.filter { isLater($0.value) }.keys
            if prefixes.isEmpty { return true }
            let addresses = [access.source.canonical, record?.url].compactMap(\.self)
            return !prefixes.contains { prefix in addresses.contains { $0.hasPrefix(prefix) } }
        }
    }

    /// Counts a purge.
    ///
    /// - Parameter source: the key of the source, for a target that is one.
    func advance(_ target: PurgeTarget, source: StoreKey?) {
        state.withLock { state in
            state.last += 1
            switch target {
            case .source: if let source { state.sources[source] = state.last }
            case .host(let host): state.hosts[host] = state.last
            case .tag(let tag): (state.tags[tag], state.anyTag) = (state.last, state.last)
            case .prefix(let prefix): state.prefixes[prefix] = state.last
            case .everything: state.removeFirst(upTo: state.last)
            }
            if state.prefixes.count > Self.maxPrefixes, let first = state.prefixes.values.min() {
                state.removeFirst(upTo: first)
            } else if state.sources.count + state.hosts.count + state.tags.count > Self.capacity {
                state.removeFirst(upTo: state.last - UInt64(Self.capacity / 2))
            }
        }
    }

    /// Counts a removal of a source.
    func advance(_ source: StoreKey) {
        state.withLock { state in
            state.last += 1
            state.sources[source] = state.last
            if state.sources.count > Self.capacity { state.removeFirst(upTo: state.last - UInt64(Self.capacity / 2)) }
        }
    }
}
