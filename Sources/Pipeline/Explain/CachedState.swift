import DarkroomHTTPCaching
import DarkroomStore
import DarkroomTransforms
import NIOCore

/// What the caches have for one request, found out without a trace: no hit is counted, and nothing lives longer for it.
struct Holdings {
    /// What is known of the source; nil where that may not be used.
    var record: SourceRecord?
    /// The source's bytes, of the content that the record names.
    var original: Original?
    var variant: VariantRecord?
    var entries: [CachedEntry]

    init(of wanted: Wanted, in keep: KeepResults) async {
        let keys = wanted.keys
        let places = wanted.request.cache.query
        let held = keep.records.peek(keys.source)
        let recordOnDisk = await keep.disk?.peek(keys.record)
        let stored = recordOnDisk.flatMap { keep.records.parsed($0) }
        record = (places.any.contains(.memory) ? held : nil) ?? (places.any.contains(.disk) ? stored : nil)
        var entries = [CachedEntry(kind: .record, keys.record)]
        if let held { entries[0].note(.memory, bytes: held.costBytes) }
        if let stored { entries[0].note(.disk, bytes: stored.bytes.readableBytes) }
        self.entries = entries
        guard let record else {
            self.entries += [CachedEntry(kind: .original, keys.original), CachedEntry(kind: .variant, keys.variant)]
            return
        }
        await findOriginal(of: record, keys.original, keep)
        await findVariant(of: record, keys.variant, keep)
    }

    private mutating func findOriginal(of record: SourceRecord, _ key: EntryKey, _ keep: KeepResults) async {
        var entry = CachedEntry(kind: .original, key)
        for (layer, found) in await keep.peek(key) where LoadOriginal.content(of: found) == record.content {
            entry.note(layer, bytes: found.body.readableBytes)
            original = original ?? Original(body: found.body, record: record, layer: layer)
        }
        entries.append(entry)
    }

    private mutating func findVariant(of record: SourceRecord, _ key: EntryKey, _ keep: KeepResults) async {
        var entry = CachedEntry(kind: .variant, key)
        for (layer, found) in await keep.peek(key) {
            guard let notes = VariantRecord(found.metadata), notes.content == record.content else { continue }
            entry.note(layer, bytes: found.body.readableBytes)
            entry.format = notes.format
            variant = notes
        }
        entries.append(entry)
    }
}

extension CachedEntry {
    init(kind: Kind, _ key: EntryKey) {
        self.init(kind: kind, key: key.entry.hex)
    }

    fileprivate mutating func note(_ layer: CacheReport.Layer, bytes: Int) {
        tiers.insert(layer == .memory ? .memory : .disk)
        self.bytes = bytes
    }
}

extension KeepResults {
    /// The entry in each of the tiers that have it, memory first.
    fileprivate func peek(_ key: EntryKey) async -> [(CacheReport.Layer, StoredEntry)] {
        var found: [(CacheReport.Layer, StoredEntry)] = []
        if let entry = memory.peek(key) { found.append((.memory, entry)) }
        if let entry = await disk?.peek(key) { found.append((.disk, entry)) }
        return found
    }
}
