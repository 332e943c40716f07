import DarkroomStore
import NIOCore

/// The first two places to look: the finished picture in memory, then on disk.
struct FindVariant: Sendable {
    let keep: KeepResults

    struct Found {
        var body: ByteBuffer
        var record: VariantRecord
        var layer: CacheReport.Layer

        var entry: StoredEntry { StoredEntry(body: body, metadata: record.bytes) }
    }

    /// Memory alone, without suspending: the path of a hot picture.
    ///
    /// - Parameter content: what the picture has to be made from.
    func inMemory(_ wanted: Wanted, of content: StoreKey) -> Found? {
        guard wanted.request.cache.query.variants.contains(.memory) else { return nil }
        return keep.memory.entry(for: wanted.keys.variant).flatMap { Self.usable($0, of: content, .memory) }
    }

    /// What is on disk is brought back to memory.
    func onDisk(_ wanted: Wanted, of content: StoreKey) async -> Found? {
        guard wanted.request.cache.query.variants.contains(.disk),
            let entry = await keep.disk?.entry(for: wanted.keys.variant),
            let found = Self.usable(entry, of: content, .disk)
        else { return nil }
        if wanted.request.cache.store.variants.contains(.memory) {
            keep.bringBack(entry, for: wanted.keys.variant, wanted)
        }
        return found
    }

    /// Both places.
    func callAsFunction(_ wanted: Wanted, of content: StoreKey) async -> Found? {
        if let found = inMemory(wanted, of: content) { return found }
        return await onDisk(wanted, of: content)
    }

    /// A picture that was made from other content is none of this source any more.
    private static func usable(_ entry: StoredEntry, of content: StoreKey, _ layer: CacheReport.Layer) -> Found? {
        guard let record = VariantRecord(entry.metadata), record.content == content else { return nil }
        return Found(body: entry.body, record: record, layer: layer)
    }
}
