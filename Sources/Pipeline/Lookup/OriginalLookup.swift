import DarkroomStore
import NIOCore

/// Brings the bytes of a source whose content is known: from a production under way, from memory, or from disk.
struct LoadOriginal: Sendable {
    let keep: KeepResults

    /// Larger originals would push too many variants out of memory; the disk has them.
    static let maxMemoryBytes = 1 << 20

    func callAsFunction(_ wanted: Wanted, _ record: SourceRecord) async -> Original? {
        if let original = keep.inUse[wanted.keys.source], original.record.content == record.content { return original }
        return await stored(wanted, record)
    }

    /// The same from memory and disk alone.
    func stored(_ wanted: Wanted, _ record: SourceRecord) async -> Original? {
        let (key, places) = (wanted.keys.original, wanted.request.cache.query.originals)
        if places.contains(.memory), let entry = keep.memory.entry(for: key), Self.content(of: entry) == record.content
        {
            return Original(body: entry.body, record: record, layer: .memory)
        }
        guard places.contains(.disk), let entry = await keep.disk?.entry(for: key),
            Self.content(of: entry) == record.content
        else { return nil }
        if entry.body.readableBytes <= Self.maxMemoryBytes, wanted.request.cache.store.originals.contains(.memory) {
            keep.bringBack(entry, for: key, wanted)
        }
        return Original(body: entry.body, record: record, layer: .disk)
    }

    /// The entry of an original: beside its bytes stands their hash.
    static func entry(_ original: Original) -> StoredEntry {
        let content = original.record.content
        return StoredEntry(body: original.body, metadata: ByteBuffer(bytes: content.bytes), bodyDigest: content)
    }

    static func content(of entry: StoredEntry) -> StoreKey? {
        StoreKey(digest: entry.metadata.readableBytesView)
    }
}
