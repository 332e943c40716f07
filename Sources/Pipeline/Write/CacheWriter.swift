import DarkroomMachine
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
        if tiers.contains(.shared) {
            caches.shared?.store(record, of: request.keys.source) { caches.isCurrent(request) }
        }
        await withdrawIfPurged(request)
    }

    /// Stores a variant and the original that it was made from, which is known to decode.
    ///
    /// - Parameter cost: the time that making the variant took; nil if another request has written it to the shared
    ///   tier.
    /// - Returns: whether a nearer tier accepted the variant; with `waitsForDisk`, whether the disk has it.
    func store(
        _ variant: StoredEntry, from original: Original, cost: Duration? = nil, for request: ResolvedRequest
    ) async -> Bool {
        guard original.mayBeStored, caches.accepts(original.record, request) else { return false }
        let options = request.cache
        // The record has no file; if the store's index is lost, this copy makes the variant usable again.
        var variant = variant
        variant.companion = .init(original.record.entry, for: request.keys.record.entry)
        store(original, in: options.store, request)
        if let cost { share(variant, from: original, cost, request) }
        // A later process would take the record on disk for the source's current one.
        if original.replacesKnown, options.store.union == .memory { await disk?.remove(request.keys.record) }
        var isStored = false
        if options.store.variants.contains(.memory), caches.memory.budgetBytes > 0 {
            isStored = caches.memory.store(variant, for: request.keys.variant)
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
        caches.removeFromMemory(source)
        caches.shared?.remove(source)
    }

    /// Queues what the request stores in the shared tier.
    private func share(
        _ variant: StoredEntry, from original: Original, _ cost: Duration, _ request: ResolvedRequest
    ) {
        let tiers = request.cache.store
        guard let shared = caches.shared, tiers.union.contains(.shared) else { return }
        let storesBytes =
            shared.store.configuration.storesOriginals && original.tier == nil
            && original.claimBytes(tiers.originals.intersection(.shared)) == .shared
        shared.store(
            original.record, of: request.keys.source,
            variant: tiers.variants.contains(.shared) ? (request.keys.variant, variant, cost) : nil,
            original: storesBytes ? original : nil
        ) { caches.isCurrent(request) }
    }

    /// Stores the bytes before the record: a record without bytes costs a download, bytes without a record nothing.
    private func store(_ original: Original, in tiers: TierSelection, _ request: ResolvedRequest) {
        guard original.tier == nil else { return }
        var entry = OriginalLookup.entry(original)
        entry.companion = .init(original.record.entry, for: request.keys.record.entry)
        let claimed = original.claimBytes(tiers.originals.subtracting(.shared))
        let isSmall = original.body.count <= min(OriginalLookup.maxMemoryBytes, caches.memory.budgetBytes)
        if claimed.contains(.memory), isSmall { caches.memory.store(entry, for: request.keys.original) }
        if claimed.contains(.disk), let disk, !isSmall {
            write(original, entry, to: disk, request)
        } else {
            if claimed.contains(.disk) { disk?.store(entry, for: request.keys.original) }
            if isSmall || tiers.originals.subtracting(.shared).isEmpty { original.markStored() }
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
        if !caches.isCurrent(request) { await caches.withdraw(request.keys.source) }
    }
}
