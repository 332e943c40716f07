import DarkroomMachine
import DarkroomRequests
package import DarkroomStore
import DarkroomWaiting

// Storing of originals and variants, unless a purge intervened.
//
// A purge is first counted in the epochs and then removes entries. It removes an entry that was stored before it. A
// writer that stores afterward sees that its source was purged, before storing or when it checks again.
extension ImageCache {
    /// Stores a record whose content is already cached or need not be cached.
    package func store(_ record: SourceRecord, for access: CacheAccess) async {
        let tiers = access.options.store.union
        guard !tiers.isEmpty, accepts(record, access), records.peek(access.keys.source) !== record else { return }
        records.store(record, for: access.keys.source, in: tiers)
        if tiers.contains(.shared) {
            shared?.store(record, of: access.keys.source) { [self] in isCurrent(access, record) }
        }
        await removeIfPurged(access, record)
    }

    /// Stores a variant and its original, which is known to decode.
    ///
    /// - Parameter isShared: whether another request has written the variant to the shared tier.
    /// - Returns: whether a nearer tier accepted the variant; with `waitsForDisk`, whether the disk has it.
    package func store(
        _ variant: StoredEntry, from original: Original, isShared: Bool = false, for access: CacheAccess
    ) async -> Bool {
        guard original.mayBeStored, accepts(original.record, access) else { return false }
        let options = access.options
        // The record has no file; if the store's index is lost, this copy makes the variant usable again.
        var variant = variant
        variant.companion = .init(original.record.entry, for: access.keys.record.entry)
        let keepsOriginal = store(original, in: options.store, access)
        if !isShared { share(variant, from: original, access) }
        // A later process would take the record on disk for the source's current one.
        if original.replacesKnown, options.store.union == .memory { await disk?.remove(access.keys.record) }
        var isStored = false
        let tiers = admitted(options.store.variants, access.keys.variant, bytes: variant.content.count, access)
        if tiers.contains(.memory), memory.budgetBytes > 0 {
            isStored = memory.store(variant, for: access.keys.variant)
        }
        if tiers.contains(.disk), let disk {
            if options.waitsForDisk {
                isStored = await waitUntilStored(variant, original.record, for: access)
            } else {
                isStored = disk.store(variant, for: access.keys.variant) || isStored
            }
        }
        if options.waitsForDisk, options.store.originals.contains(.disk), keepsOriginal, let disk {
            let isOnDisk = await disk.storeAndWait(original.entry, for: access.keys.original)
            if options.store.variants.isEmpty { isStored = isOnDisk }
        }
        await removeIfPurged(access, original.record)
        return isStored
    }

    /// Returns once a found variant is on disk, if the request waits for that.
    ///
    /// - Returns: whether it is on disk.
    package func confirmStored(
        _ variant: StoredEntry, _ record: SourceRecord, for access: CacheAccess
    ) async -> Bool {
        guard access.options.waitsForDisk, access.options.store.variants.contains(.disk) else { return false }
        return await waitUntilStored(variant, record, for: access)
    }

    /// Returns once a variant and its record are on disk, whether they are written now or were queued before.
    ///
    /// - Returns: whether both are on disk.
    private func waitUntilStored(
        _ variant: StoredEntry, _ record: SourceRecord, for access: CacheAccess
    ) async -> Bool {
        guard let disk, isCurrent(access, record) else { return false }
        let keys = access.keys
        for (entry, key) in [(record.entry, keys.record), (variant, keys.variant)] {
            let isOnDisk = await disk.entry(for: key)?.metadata == entry.metadata
            if !isOnDisk, await !disk.storeAndWait(entry, for: key) { return false }
        }
        await removeIfPurged(access, record)
        return true
    }

    /// Keeps a downloaded original while work uses it, and stores the effects of its response on the source.
    ///
    /// - Parameter isKnown: whether the source had a record before.
    package func receive(_ original: Original, isKnown: Bool, for access: CacheAccess) async {
        let source = access.keys.source
        let tiers = access.options.store.union
        if original.record.isVerified, original.mayBeStored {
            _ = original.claimRecord(tiers)
            await store(original.record, for: access)
        } else if !original.mayBeStored, !tiers.isEmpty {
            // This content replaces content that was stored, or that an earlier request is about to store.
            if isKnown { await remove(source) } else { epochs.advance(source) }
        }
        if accepts(original.record, access) { originalsInUse.insert(original, for: source) }
        if !isCurrent(access, original.record) { originalsInUse.remove([source]) }
    }

    /// Records that an original does not decode, so that no request uses it.
    package func reject(_ content: UndecodableContent, mayBeStored: Bool, for access: CacheAccess) {
        // A purge in the meantime clears this failure too. Content that may not be stored advanced the epoch itself.
        if isCurrent(access, content.record) || !mayBeStored { failures.record(content, of: access, now: now()) }
        originalsInUse.remove([access.keys.source])
    }

    /// Removes a source that is gone or must not be stored, according to its origin. Work in progress for it is not
    /// stored.
    package func remove(_ source: StoreKey) async {
        epochs.advance(source)
        await disk?.removeAll(ofSources: [source])
        // From here on, no request copies an entry to memory that it read from disk before.
        epochs.advance(source)
        removeFromMemory(source)
        shared?.remove(source)
    }

    /// Queues the request's writes to the shared tier.
    private func share(
        _ variant: StoredEntry, from original: Original, _ access: CacheAccess
    ) {
        let tiers = access.options.store
        guard let shared, tiers.union.contains(.shared) else { return }
        let storesBytes =
            shared.store.configuration.storesOriginals && original.tier == nil
            && original.claimBytes(tiers.originals.intersection(.shared)) == .shared
        shared.store(
            original.record, of: access.keys.source,
            variant: tiers.variants.contains(.shared) ? (access.keys.variant, variant) : nil,
            original: storesBytes ? original : nil
        ) { [self] in isCurrent(access, original.record) }
    }

    /// Stores the bytes before the record: a record without bytes costs a download, bytes without a record cost
    /// nothing.
    ///
    /// - Returns: whether nearer tiers get the bytes, from this request or another.
    private func store(_ original: Original, in tiers: TierSelection, _ access: CacheAccess) -> Bool {
        guard original.tier == nil else { return false }
        var entry = original.entry
        entry.companion = .init(original.record.entry, for: access.keys.record.entry)
        let unstored = original.claimBytes(tiers.originals.subtracting(.shared))
        let claimed = admitted(unstored, access.keys.original, bytes: original.body.count, access)
        let isRefused = claimed != unstored
        let isSmall = original.body.count <= min(Original.maxMemoryBytes, memory.budgetBytes)
        if claimed.contains(.memory), isSmall { memory.store(entry, for: access.keys.original) }
        if claimed.contains(.disk), let disk, !isSmall {
            // Too large for memory: it stays in use until it is on disk, so that another width of the image does not
            // download it again.
            writes.run { [self, entry] in
                _ = await disk.storeAndWait(entry, for: access.keys.original)
                original.markStored()
                await removeIfPurged(access, original.record)
            }
        } else {
            if claimed.contains(.disk) { disk?.store(entry, for: access.keys.original) }
            if isSmall || isRefused || tiers.originals.subtracting(.shared).isEmpty { original.markStored() }
        }
        records.store(original.record, for: access.keys.source, in: original.claimRecord(tiers.union))
        return !isRefused
    }
}
