import DarkroomStore
import NIOCore

/// Stores what was fetched and made, unless a purge intervened.
///
/// A purge first advances the source's epoch and then removes its entries. So an entry that is stored before the purge
/// is removed by it, and a writer that stores afterwards sees the new epoch, before storing or when it checks again.
struct CacheWriter: Sendable {
    let caches: PipelineCaches

    private var disk: (any Storing)? { caches.disk }

    /// Stores a record whose content is cached already, or need not be.
    func store(_ record: SourceRecord, for request: ResolvedRequest) async {
        let tiers = request.cache.store.union
        guard !tiers.isEmpty, caches.accepts(record, request) else { return }
        caches.records.store(record, for: request.keys.source, in: tiers)
        await withdrawIfPurged(request)
    }

    /// Stores a variant and the original that it was made from, which is known to decode.
    ///
    /// - Returns: whether a tier accepted the variant; with `waitsForDisk`, whether the disk has it.
    func store(_ variant: StoredEntry, from original: Original, for request: ResolvedRequest) async -> Bool {
        guard original.mayBeStored, caches.accepts(original.record, request) else { return false }
        let options = request.cache
        // The record has no file; if the store's index is lost, this copy makes the variant usable again.
        var variant = variant
        variant.companion = .init(original.record.entry, for: request.keys.record.entry)
        store(original, in: options.store, request)
        // A later process would take the record on disk for the source's current one.
        if original.replacesKnown, options.store.union == .memory { await disk?.remove(request.keys.record) }
        var isStored = false
        if options.store.variants.contains(.memory), caches.memory.budgetBytes > 0 {
            caches.memory.store(variant, for: request.keys.variant)
            isStored = true
        }
        if options.store.variants.contains(.disk), let disk {
            if options.waitsForDisk {
                isStored = await waitUntilStored(variant, original.record, for: request)
            } else {
                isStored = disk.store(variant, for: request.keys.variant) || isStored
            }
        }
        if options.waitsForDisk, options.store.originals.contains(.disk), original.tier == nil, let disk {
            let isOnDisk = await disk.storeAndWait(OriginalLookup.entry(original), for: request.keys.original)
            if options.store.variants.isEmpty { isStored = isOnDisk }
        }
        await withdrawIfPurged(request)
        return isStored
    }

    /// Returns once a variant and its record are on disk, whether they are written now or were queued before.
    ///
    /// - Returns: whether both are on disk.
    func waitUntilStored(
        _ variant: StoredEntry, _ record: SourceRecord, for request: ResolvedRequest
    ) async -> Bool {
        guard let disk, caches.isCurrent(request) else { return false }
        let keys = request.keys
        for (entry, key) in [(record.entry, keys.record), (variant, keys.variant)] {
            let isOnDisk = await disk.entry(for: key)?.metadata == entry.metadata
            if !isOnDisk, await !disk.storeAndWait(entry, for: key) { return false }
        }
        await withdrawIfPurged(request)
        return true
    }

    /// Removes a source whose origin said that it is gone or may not be stored. Work in progress for it is not stored.
    func remove(_ source: StoreKey) async {
        caches.epochs.advance(source)
        await disk?.removeAll(ofSources: [source])
        // From here on no request copies to memory what it read from disk before.
        caches.epochs.advance(source)
        removeFromMemory(source)
    }

    private func removeFromMemory(_ source: StoreKey) {
        caches.originalsInUse.remove([source])
        caches.records.remove([source])
        caches.memory.removeAll(ofSources: [source])
    }

    /// Stores the bytes before the record: a record without bytes costs a download, bytes without a record nothing.
    private func store(_ original: Original, in tiers: TierSelection, _ request: ResolvedRequest) {
        guard original.tier == nil else { return }
        var entry = OriginalLookup.entry(original)
        entry.companion = .init(original.record.entry, for: request.keys.record.entry)
        let claimed = original.claimBytes(tiers.originals)
        let isSmall = original.body.readableBytes <= min(OriginalLookup.maxMemoryBytes, caches.memory.budgetBytes)
        if claimed.contains(.memory), isSmall { caches.memory.store(entry, for: request.keys.original) }
        if claimed.contains(.disk), let disk, !isSmall {
            write(original, entry, to: disk, request)
        } else {
            if claimed.contains(.disk) { disk?.store(entry, for: request.keys.original) }
            if isSmall || tiers.originals.isEmpty { original.markStored() }
        }
        caches.records.store(
            original.record, for: request.keys.source, in: original.claimRecord(tiers.union))
    }

    /// Writes an original that is too large for memory. It stays in use until it is on disk, so that another width of
    /// the image does not download it again.
    private func write(
        _ original: Original, _ entry: StoredEntry, to disk: any Storing, _ request: ResolvedRequest
    ) {
        Task {
            _ = await disk.storeAndWait(entry, for: request.keys.original)
            original.markStored()
            await withdrawIfPurged(request)
        }
    }

    private func withdrawIfPurged(_ request: ResolvedRequest) async {
        guard !caches.isCurrent(request) else { return }
        removeFromMemory(request.keys.source)
        await disk?.removeAll(ofSources: [request.keys.source])
    }
}
