import DarkroomHTTPCaching
import DarkroomMachine
package import DarkroomNetwork
public import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
public import Foundation
public import HTTPTypes
import NIOCore

/// A cache entry of a source.
public struct CachedEntry: Hashable, Sendable {
    public enum Kind: String, CaseIterable, Sendable {
        /// The hash of a source's content, and its caching metadata.
        case record
        /// A source's bytes.
        case original
        /// A finished image.
        case variant
    }

    /// What the entry holds.
    public var kind: Kind
    /// The key: SHA-256 in 64 hexadecimal digits.
    public var key: String
    public var tiers: TierSet = []
    /// The size in bytes, on disk if the disk has the entry, else in memory; nil if no tier has it.
    public var bytes: Int?
    /// The time since it was stored, on disk if the disk has it, else in memory; nil if unknown.
    public var age: Duration?
    /// The number of hits since it entered memory; nil if it is not in memory.
    public var hits: Int?
    /// The format of a variant, if known.
    public var format: OutputFormat?
}

extension CachedEntry {
    fileprivate init(kind: Kind, _ key: EntryKey) {
        self.init(kind: kind, key: key.entry.hex)
    }

    fileprivate init(_ key: EntryKey) {
        let kind: Kind =
            switch key {
            case RequestKeys.record(of: key.source): .record
            case RequestKeys.original(of: key.source): .original
            default: .variant
            }
        self.init(kind: kind, key)
    }

    fileprivate mutating func add(_ tier: TierSet, bytes: Int) {
        tiers.formUnion(tier)
        self.bytes = bytes
    }

    fileprivate mutating func add(_ listing: EntrySummary, _ tier: TierSet) {
        add(tier, bytes: listing.bytes)
        age = listing.age
        hits = listing.hits ?? hits
        format = listing.metadata.flatMap(VariantRecord.init)?.format ?? format
    }
}

extension ImageCache {
    /// The request's record, original and variant, with all tiers that have them, whether or not the request reads
    /// those tiers. The shared tier is read only if the request reads it. Nothing changes.
    ///
    /// - Parameter record: the known record of the source. Entries of other content don't count.
    package func entries(of access: CacheAccess, _ known: SourceRecord?) async -> [CachedEntry] {
        let (keys, tiers) = (access.keys, access.options.query)
        let inShared = tiers.union.contains(.shared) ? await shared?.look(for: access, known: nil) : nil
        var record = CachedEntry(kind: .record, keys.record)
        if let found = records.peek(keys.source) { record.add(.memory, bytes: found.costBytes) }
        let onDisk = await disk?.peek(keys.record).flatMap { records.decode($0, of: keys.source) }
        for (tier, found) in [(TierSet.disk, onDisk), (.shared, inShared?.record)] {
            if let found { record.add(tier, bytes: found.bytes.readableBytes) }
        }
        var original = CachedEntry(kind: .original, keys.original)
        var variant = CachedEntry(kind: .variant, keys.variant)
        guard let known else { return [record, original, variant] }
        for (tier, found) in await peek(keys.original) where found.originalContent == known.content {
            original.add(tier, bytes: found.content.count)
        }
        if tiers.originals.contains(.shared), original.tiers.intersection(tiers.originals).isEmpty,
            let body = await shared?.original(of: access, known)
        {
            original.add(.shared, bytes: body.count)
        }
        for (tier, found) in await peek(keys.variant) + (inShared?.variant.map { [(.shared, $0)] } ?? []) {
            guard let metadata = VariantRecord(found.metadata), metadata.content == known.content else { continue }
            variant.add(tier, bytes: found.content.count)
            variant.format = metadata.format
        }
        return [record, original, variant]
    }

    /// The entry in each tier that has it, memory first.
    private func peek(_ key: EntryKey) async -> [(TierSet, StoredEntry)] {
        var found: [(TierSet, StoredEntry)] = []
        if let entry = memory.peek(key) { found.append((.memory, entry)) }
        if let entry = await disk?.peek(key) { found.append((.disk, entry)) }
        return found
    }
}

/// The cached entries of one source.
public struct SourceEntries: Sendable {
    /// The canonical address of the source.
    public var url: String
    /// The source key: SHA-256 in 64 hexadecimal digits.
    public var key: String
    /// The source's record. Nil without a record; no entry is used then.
    public var record: Record?
    /// The record, the original, then the variants by key; at most ``maxCount``.
    public var entries: [CachedEntry]

    /// The most entries that are listed.
    public static let maxCount = 1_000

    /// The content and the freshness of the source.
    public struct Record: Sendable {
        /// The SHA-256 of the content in 64 hexadecimal digits.
        public var contentDigest: String
        /// When the origin last responded.
        public var fetchedAt: Date
        /// The remaining freshness lifetime; negative once the source is stale.
        public var remaining: Duration
        /// The origin's response fields about caching and validation.
        public var originFields: HTTPFields
    }
}

extension ImageCache {
    /// The cached entries of a source. Nothing changes.
    package func entries(of source: SourceURL) async -> SourceEntries {
        let key = self.source(of: source)
        let inMemory = records.peek(key)
        var known = inMemory
        if known == nil {
            known = await disk?.peek(RequestKeys.record(of: key)).flatMap { records.decode($0, of: key) }
        }
        var table: [EntryKey: CachedEntry] = [:]
        if let inMemory {
            let key = RequestKeys.record(of: key)
            table[key] = CachedEntry(kind: .record, key)
            table[key]?.add(.memory, bytes: inMemory.costBytes)
        }
        let limit = SourceEntries.maxCount
        let onDisk = await disk?.summaries(ofSource: key, limit: limit) ?? []
        for (tier, listings) in [(TierSet.memory, memory.summaries(ofSource: key, limit: limit)), (.disk, onDisk)] {
            for listing in listings { table[listing.key, default: CachedEntry(listing.key)].add(listing, tier) }
        }
        let rank = { (entry: CachedEntry) in CachedEntry.Kind.allCases.firstIndex(of: entry.kind) ?? 0 }
        let entries = table.values.sorted { (rank($0), $0.key) < (rank($1), $1.key) }
        let record = known.map { record in
            SourceEntries.Record(
                contentDigest: record.content.hex, fetchedAt: record.response.receivedAt,
                remaining: record.freshness.remaining(at: now()), originFields: record.response.fields)
        }
        return SourceEntries(url: source.canonical, key: key.hex, record: record, entries: Array(entries.prefix(limit)))
    }
}
