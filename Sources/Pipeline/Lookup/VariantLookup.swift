import DarkroomStore
import NIOCore

/// Looks for a finished variant: in memory, then on disk.
struct VariantLookup: Sendable {
    let caches: PipelineCaches

    struct Found {
        var body: ByteBuffer
        var record: VariantRecord
        var tier: CacheReport.Tier

        var entry: StoredEntry { StoredEntry(body: body, metadata: record.bytes) }
    }

    /// Looks in the tiers that the request reads.
    ///
    /// - Parameters:
    ///   - content: the content that the variant must have been made from.
    ///   - prior: what an earlier lookup on disk has found, if there was one.
    func find(_ request: ResolvedRequest, of content: StoreKey, prior: DiskFindings = DiskFindings()) async -> Found? {
        if let found = inMemory(request, of: content) { return found }
        guard request.cache.query.variants.contains(.disk) else { return nil }
        let entry: StoredEntry?
        switch prior.variant {
        case .looked(let found): entry = found
        case .unknown: entry = await caches.disk?.entry(for: request.keys.variant)
        }
        return entry.flatMap { onDisk($0, request, of: content) }
    }

    /// Looks in memory only, without suspending.
    func inMemory(_ request: ResolvedRequest, of content: StoreKey) -> Found? {
        guard request.cache.query.variants.contains(.memory) else { return nil }
        return caches.memory.entry(for: request.keys.variant).flatMap { Self.usable($0, of: content, .memory) }
    }

    /// The variant in an entry from disk, which is copied to memory.
    func onDisk(_ entry: StoredEntry, _ request: ResolvedRequest, of content: StoreKey) -> Found? {
        guard let found = Self.usable(entry, of: content, .disk) else { return nil }
        if request.cache.store.variants.contains(.memory) {
            caches.promote(entry, for: request.keys.variant, request)
        }
        return found
    }

    /// An entry made from other content does not count: the source has changed since.
    private static func usable(_ entry: StoredEntry, of content: StoreKey, _ tier: CacheReport.Tier) -> Found? {
        guard let record = VariantRecord(entry.metadata), record.content == content else { return nil }
        return Found(body: entry.body, record: record, tier: tier)
    }
}
