import DarkroomStore
import NIOCore

/// Looks for a finished variant: in memory, on disk, then in the shared tier.
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
        if request.cache.query.variants.contains(.disk) {
            let entry: StoredEntry?
            switch prior.variant {
            case .looked(let found): entry = found
            case .unknown: entry = await caches.disk?.entry(for: request.keys.variant)
            }
            if let found = entry.flatMap({ onDisk($0, request, of: content) }) { return found }
        }
        return await inSharedTier(request, of: content, prior)
    }

    /// Looks in the shared tier only. What is found is copied to the nearer tiers.
    private func inSharedTier(_ request: ResolvedRequest, of content: StoreKey, _ prior: DiskFindings) async -> Found? {
        guard let shared = caches.shared, request.cache.query.variants.contains(.shared) else { return nil }
        let entry: StoredEntry?
        switch prior.sharedVariant {
        case .looked(let found): entry = found
        case .unknown: entry = await shared.variant(of: request)
        }
        guard let entry, let found = Self.usable(entry, of: content, .shared) else { return nil }
        await caches.adopt(entry, for: request.keys.variant, request, in: request.cache.store.variants)
        return found
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
