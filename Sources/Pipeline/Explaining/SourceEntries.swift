import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
public import Foundation
public import HTTPTypes

/// What is cached of one source.
public struct SourceEntries: Sendable {
    /// The canonical address that was asked for.
    public var url: String
    /// SHA-256 in 64 hexadecimal digits, as all keys here.
    public var key: String
    /// What is known of the source; nil = nothing, and then nothing of it is used.
    public var record: Record?
    /// The record first, then the original, then variants in the order of their keys; at most ``maxCount``.
    public var entries: [CachedEntry]

    public static let maxCount = 1_000

    public struct Record: Sendable {
        /// The SHA-256 of its content.
        public var contentDigest: String
        /// When its origin answered last.
        public var fetchedAt: Date
        /// How long it is still fresh; negative = for how long it has been stale.
        public var remaining: Duration
        /// What the origin said of caching and validation.
        public var originFields: HTTPFields
    }
}

extension SourceEntries {
    init(of source: SourceURL, _ key: StoreKey, in keep: KeepResults, now: Date) async {
        url = source.canonical
        self.key = key.hex
        let held = keep.records.peek(key)
        let known: SourceRecord?
        if let held {
            known = held
        } else {
            known = await keep.disk?.peek(RequestKeys.record(of: key)).flatMap { keep.records.parsed($0) }
        }
        record = known.map { Record($0, now: now) }
        var table = EntryTable(source: key)
        if let held { table.note(record: held) }
        for listing in keep.memory.summaries(ofSource: key, limit: Self.maxCount) { table.note(listing, .memory) }
        for listing in await keep.disk?.summaries(ofSource: key, limit: Self.maxCount) ?? [] {
            table.note(listing, .disk)
        }
        entries = Array(table.entries.prefix(Self.maxCount))
    }
}

extension SourceEntries.Record {
    fileprivate init(_ record: SourceRecord, now: Date) {
        self.init(
            contentDigest: record.content.hex, fetchedAt: record.response.receivedAt,
            remaining: record.freshness.remaining(at: now), originFields: record.response.fields)
    }
}

/// Entries by key, as the tiers tell of them one after the other.
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

    mutating func note(record: SourceRecord) {
        let key = RequestKeys.record(of: source)
        var entry = CachedEntry(kind: .record, key)
        entry.tiers = .memory
        entry.bytes = record.costBytes
        table[key.entry] = entry
    }

    mutating func note(_ listing: EntrySummary, _ tier: TierSet) {
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
