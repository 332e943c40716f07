import DarkroomHTTPCaching
package import DarkroomMachine
import DarkroomNetwork
import DarkroomRequests
import DarkroomStore
import NIOCore
import Synchronization

/// The bytes of a source while work uses them.
package final class Original: Sendable {
    package let body: SharedBytes
    package let record: SourceRecord
    /// The tier that it was found in; nil if it was downloaded.
    package let tier: CacheTier?
    /// Whether it may be stored for later requests.
    package let mayBeStored: Bool
    /// Whether the caches knew other content of the source.
    package let replacesKnown: Bool
    /// Keeps downloaded bytes within the in-flight byte budget while this object lives; nil if they are not counted.
    package let hold: (any Sendable)?
    private let state = Mutex(State())

    /// The largest original kept in memory. Larger originals would evict too many variants.
    package static let maxMemoryBytes = 1 << 20

    private struct State {
        var bytesClaimed = TierSet()
        var recordClaimed = TierSet()
        var isStored = false
    }

    package init(
        body: SharedBytes, record: SourceRecord, tier: CacheTier?, mayBeStored: Bool = true,
        replacesKnown: Bool = false, hold: (any Sendable)? = nil
    ) {
        self.body = body
        self.record = record
        self.tier = tier
        self.mayBeStored = mayBeStored
        self.replacesKnown = replacesKnown
        self.hold = hold
    }

    /// The entry, whose metadata is the hash of the bytes.
    var entry: StoredEntry {
        let content = record.content
        return StoredEntry(content: body, metadata: ByteBuffer(bytes: content.bytes), bodyDigest: content)
    }

    /// The original without its share of the in-flight byte budget, for work that waits for another download.
    package var released: Original {
        hold == nil ? self : Original(body: body, record: record, tier: tier ?? .memory, mayBeStored: mayBeStored)
    }

    /// Whether the caches have the bytes, so that other requests find them there.
    package var isStored: Bool { state.withLock(\.isStored) }

    func markStored() { state.withLock { $0.isStored = true } }

    /// Returns the tiers among these that do not store the bytes yet, and claims them: several requests may share an
    /// original, and one of them stores it.
    func claimBytes(_ tiers: TierSet) -> TierSet {
        state.withLock { state in
            defer { state.bytesClaimed.formUnion(tiers) }
            return tiers.subtracting(state.bytesClaimed)
        }
    }

    /// Returns the tiers among these that do not store the record yet, and claims them.
    func claimRecord(_ tiers: TierSet) -> TierSet {
        state.withLock { state in
            defer { state.recordClaimed.formUnion(tiers) }
            return tiers.subtracting(state.recordClaimed)
        }
    }
}

extension StoredEntry {
    /// The hash of an original's bytes, from its entry.
    var originalContent: StoreKey? { StoreKey(digest: metadata.readableBytesView) }
}

/// The originals that are being processed, or that are being written to disk.
///
/// A downloaded original is stored only after it has been decoded. Until then other variants find it here, so that two
/// widths of an uncached source cost one download.
final class OriginalsInUse: Sendable {
    private struct Reference {
        weak var original: Original?
    }

    private static let sweepCount = 256

    private let table = Mutex<[StoreKey: Reference]>([:])

    subscript(source: StoreKey) -> Original? {
        table.withLock { $0[source]?.original }.flatMap { $0.isStored ? nil : $0 }
    }

    /// Adds an original, which stays here while another reference to it exists.
    func insert(_ original: Original, for source: StoreKey) {
        table.withLock { table in
            if table.count >= Self.sweepCount { table = table.filter { $0.value.original != nil } }
            table[source] = Reference(original: original)
        }
    }

    func remove(_ sources: [StoreKey]) {
        table.withLock { table in
            for source in sources { table[source] = nil }
        }
    }

    /// Removes the originals whose record fulfills the condition.
    func removeAll(where isMeant: (SourceRecord) -> Bool) {
        table.withLock { table in
            table = table.filter { $0.value.original.map { !isMeant($0.record) } ?? false }
        }
    }
}

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
/// Purges are numbered as this server learns of them. Of very many purges, only the latest are known one by one; work
/// that started before them counts as purged.
final class PurgeEpochs: Sendable {
    /// The purges of a target.
    private struct Purges {
        /// The number of the last purge.
        var last: UInt64 = 0
        /// The number of the last purge that concerns all work in progress.
        var lastOfAll: UInt64 = 0
        /// The order up to which the other purges concern records.
        var order = Int64.min

        mutating func include(_ number: UInt64, order: Int64?) {
            last = max(last, number)
            if let order { self.order = max(self.order, order) } else { lastOfAll = max(lastOfAll, number) }
        }

        /// Whether work that started at this epoch is concerned.
        func concern(_ epoch: PurgeEpoch, _ order: Int64?) -> Bool {
            lastOfAll > epoch.last || last > epoch.last && order.map { $0 <= self.order } ?? true
        }
    }

    private struct State {
        var last: UInt64 = 0
        /// The purges that concern all sources.
        var everything = Purges()
        /// The purges of tags.
        var anyTag = Purges()
        var sources: [StoreKey: Purges] = [:]
        var hosts: [String: Purges] = [:]
        var tags: [String: Purges] = [:]
        var prefixes: [String: Purges] = [:]

        /// Work from before the first purges counts as purged, so that they need not be known.
        mutating func removeFirst(upTo number: UInt64, order: Int64? = nil) {
            everything.include(number, order: order)
            sources = sources.filter { $0.value.last > number }
            hosts = hosts.filter { $0.value.last > number }
            tags = tags.filter { $0.value.last > number }
            prefixes = prefixes.filter { $0.value.last > number }
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
            var number = max(state.everything.last, state.anyTag.last, state.sources[source]?.last ?? 0)
            if !state.hosts.isEmpty { number = max(number, state.hosts[url.hostName]?.last ?? 0) }
            if !state.prefixes.isEmpty {
                let address = url.canonical
                for (prefix, found) in state.prefixes where address.hasPrefix(prefix) {
                    number = max(number, found.last)
                }
            }
            return PurgeEpoch(last: state.last, concerning: number)
        }
    }

    /// Whether no purge since then concerns the source of a request.
    ///
    /// - Parameters:
    ///   - record: the record of the source; nil = unknown, so that any purge of a tag concerns it.
    ///   - order: the order of the record, which purges up to an earlier order do not concern; nil = unknown.
    func isCurrent(
        _ epoch: PurgeEpoch, of access: CacheAccess, _ record: SourceRecord?, order: () -> Int64? = { nil }
    ) -> Bool {
        state.withLock { state in
            guard state.last > epoch.last else { return true }
            let order = order()
            func isLater(_ purges: Purges?) -> Bool { purges?.concern(epoch, order) ?? false }
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
    /// - Parameters:
    ///   - source: the key of the source, for a target that is one.
    ///   - order: the order up to which it concerns records; nil = it concerns all work in progress.
    func advance(_ target: PurgeTarget, source: StoreKey?, order: Int64? = nil) {
        state.withLock { state in
            state.last += 1
            let number = state.last
            switch target {
            case .source: if let source { state.sources[source, default: Purges()].include(number, order: order) }
            case .host(let host): state.hosts[host, default: Purges()].include(number, order: order)
            case .tag(let tag):
                state.tags[tag, default: Purges()].include(number, order: order)
                state.anyTag.include(number, order: order)
            case .prefix(let prefix): state.prefixes[prefix, default: Purges()].include(number, order: order)
            case .everything: state.removeFirst(upTo: number, order: order)
            }
            if state.prefixes.count > Self.maxPrefixes, let first = state.prefixes.values.map(\.last).min() {
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
            state.sources[source, default: Purges()].include(state.last, order: nil)
            if state.sources.count > Self.capacity { state.removeFirst(upTo: state.last - UInt64(Self.capacity / 2)) }
        }
    }
}
