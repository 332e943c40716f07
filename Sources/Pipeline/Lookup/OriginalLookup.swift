import DarkroomMachine
import DarkroomStore
import NIOCore

/// Looks for the bytes of a source whose content is known: in work under way, in memory, on disk, then in the
/// shared tier.
struct OriginalLookup: Sendable {
    let caches: PipelineCaches

    /// The largest original kept in memory. Larger ones would evict too many variants.
    static let maxMemoryBytes = 1 << 20

    /// Looks in work under way and in the tiers that the request reads.
    func find(_ request: ResolvedRequest, _ record: SourceRecord) async -> Original? {
        if let original = inUse(request, record) { return original }
        let (key, tiers) = (request.keys.original, request.cache.query.originals)
        if tiers.contains(.memory), let entry = caches.memory.entry(for: key),
            Self.content(of: entry) == record.content
        {
            return Original(body: entry.content, record: record, tier: .memory)
        }
        if tiers.contains(.disk), let entry = await caches.disk?.entry(for: key),
            Self.content(of: entry) == record.content
        {
            if entry.content.count <= Self.maxMemoryBytes, request.cache.store.originals.contains(.memory) {
                caches.promote(entry, for: key, request)
            }
            return Original(body: entry.content, record: record, tier: .disk)
        }
        guard tiers.contains(.shared), let body = await caches.shared?.original(of: request, record) else { return nil }
        let original = Original(body: body, record: record, tier: .shared)
        var nearer = request.cache.store.originals
        if body.count > Self.maxMemoryBytes { nearer.remove(.memory) }
        await caches.adopt(Self.entry(original), for: key, request, in: nearer)
        return original
    }

    /// Looks in work under way only.
    func inUse(_ request: ResolvedRequest, _ record: SourceRecord) -> Original? {
        caches.originalsInUse[request.keys.source].flatMap { $0.record.content == record.content ? $0 : nil }
    }

    /// The entry of an original, whose metadata is the hash of its bytes.
    static func entry(_ original: Original) -> StoredEntry {
        let content = original.record.content
        return StoredEntry(content: original.body, metadata: ByteBuffer(bytes: content.bytes), bodyDigest: content)
    }

    /// The hash of an original's bytes, from its entry.
    static func content(of entry: StoredEntry) -> StoreKey? {
        StoreKey(digest: entry.metadata.readableBytesView)
    }
}
