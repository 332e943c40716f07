import DarkroomHTTPCaching
package import DarkroomNetwork
import DarkroomStore
public import Foundation
public import HTTPTypes

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
        let key = RequestKeys.source(effects.identity(source))
        let inMemory = records.peek(key)
        var known = inMemory
        if known == nil {
            known = await disk?.peek(RequestKeys.record(of: key)).flatMap { records.decode($0, of: key) }
        }
        var table = EntryTable(source: key)
        if let inMemory { table.add(record: inMemory) }
        let limit = SourceEntries.maxCount
        for listing in memory.summaries(ofSource: key, limit: limit) { table.add(listing, .memory) }
        for listing in await disk?.summaries(ofSource: key, limit: limit) ?? [] { table.add(listing, .disk) }
        return SourceEntries(
            url: source.canonical, key: key.hex, record: known.map { SourceEntries.Record($0, now: now()) },
            entries: Array(table.entries.prefix(limit)))
    }
}

extension SourceEntries.Record {
    fileprivate init(_ record: SourceRecord, now: Date) {
        self.init(
            contentDigest: record.content.hex, fetchedAt: record.response.receivedAt,
            remaining: record.freshness.remaining(at: now), originFields: record.response.fields)
    }
}

/// Merges the tiers' entries by key.
private struct EntryTable {
    let source: StoreKey
    private var table: [StoreKey: CachedEntry] = [:]

    init(source: StoreKey) {
        self.source = source
    }

    var entries: [CachedEntry] {
        let rank = { (entry: CachedEntry) in CachedEntry.Kind.allCases.firstIndex(of: entry.kind) ?? 0 }
        return table.values.sorted { (rank($0), $0.key) < (rank($1), $1.key) }
    }

    mutating func add(record: SourceRecord) {
        let key = RequestKeys.record(of: source)
        var entry = CachedEntry(kind: .record, key)
        entry.tiers = .memory
        entry.bytes = record.costBytes
        table[key.entry] = entry
    }

    mutating func add(_ listing: EntrySummary, _ tier: TierSet) {
        var entry = table[listing.key.entry] ?? CachedEntry(kind: kind(of: listing.key), listing.key)
        entry.tiers.formUnion(tier)
        entry.bytes = listing.bytes
        entry.age = listing.age
        entry.hits = listing.hits ?? entry.hits
        entry.format = listing.metadata.flatMap(VariantRecord.init)?.format ?? entry.format
        table[listing.key.entry] = entry
    }

    private func kind(of key: EntryKey) -> CachedEntry.Kind {
        switch key {
        case RequestKeys.record(of: source): .record
        case RequestKeys.original(of: source): .original
        default: .variant
        }
    }
}
