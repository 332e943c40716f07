import DarkroomStore
import NIOCore

/// Hands what was made to the caches, unless a purge came in between.
///
/// A purge first raises the source's generation and then removes. So whoever stored before the purge is removed by it, and
/// whoever stores after it sees the new number, now or once more after storing.
struct KeepResults: Sendable {
    let memory: MemoryStore
    let disk: (any Storing)?
    let records: SourceRecords
    let generations: Generations
    let inUse: OriginalsInUse

    /// What is known of a source; what is on disk is brought back to memory.
    func known(_ wanted: Wanted) async -> SourceRecord? {
        let (source, tiers) = (wanted.keys.source, wanted.request.cache.query.any)
        if tiers.contains(.memory), let record = records.inMemory(source) { return record }
        guard tiers.contains(.disk), let record = await records.onDisk(source) else { return nil }
        if isCurrent(wanted) { records.bringBack(record, for: source) }
        if !isCurrent(wanted) { records.forget([source]) }
        return record
    }

    /// Brings an entry from disk back to memory.
    func bringBack(_ entry: StoredEntry, for key: EntryKey, _ wanted: Wanted) {
        if isCurrent(wanted) { memory.store(entry, for: key) }
        if !isCurrent(wanted) { memory.remove(key) }
    }

    /// Keeps a record whose content is in the caches already, or needs not be.
    func keep(_ record: SourceRecord, _ wanted: Wanted) async {
        let tiers = wanted.request.cache.store.any
        guard !tiers.isEmpty, accepts(record, wanted) else { return }
        records.store(record, for: wanted.keys.source, in: tiers)
        await withdrawIfPurged(wanted)
    }

    /// Keeps a variant and the original that it was made from, which has decoded well.
    /// - Returns: whether a tier took the variant; with `waitsForDisk`, whether the disk has it.
    func keep(_ variant: StoredEntry, from original: Original, _ wanted: Wanted) async -> Bool {
        guard original.mayBeStored, accepts(original.record, wanted) else { return false }
        let use = wanted.request.cache
        keep(original, in: use.store, wanted)
        // A later process would take what the disk has for the source's content.
        if original.replacesKnown, use.store.any == .memory { await disk?.remove(wanted.keys.record) }
        var isKept = false
        if use.store.variants.contains(.memory), memory.budgetBytes > 0 {
            memory.store(variant, for: wanted.keys.variant)
            isKept = true
        }
        if use.store.variants.contains(.disk), let disk {
            if use.waitsForDisk {
                isKept = await settle(variant, original.record, wanted)
            } else {
                isKept = disk.store(variant, for: wanted.keys.variant) || isKept
            }
        }
        if use.waitsForDisk, use.store.originals.contains(.disk), original.layer == nil, let disk {
            let isThere = await disk.storeAndWait(LoadOriginal.entry(original), for: wanted.keys.original)
            if use.store.variants.isEmpty { isKept = isThere }
        }
        await withdrawIfPurged(wanted)
        return isKept
    }

    /// Returns once a variant and its record are on disk, whether or not they wait to be written already.
    /// - Returns: whether they are.
    func settle(_ variant: StoredEntry, _ record: SourceRecord, _ wanted: Wanted) async -> Bool {
        guard let disk, isCurrent(wanted) else { return false }
        let keys = wanted.keys
        for (entry, key) in [(record.entry, keys.record), (variant, keys.variant)] {
            let isThere = await disk.entry(for: key)?.metadata == entry.metadata
            if !isThere, await !disk.storeAndWait(entry, for: key) { return false }
        }
        await withdrawIfPurged(wanted)
        return true
    }

    /// Forgets all about a source: its origin has said that it is gone, or may not be kept. What is under way is not kept either.
    func forget(_ source: StoreKey) async {
        generations.advance(source)
        await disk?.removeAll(ofSources: [source])
        // From here on nobody brings back what was on disk until now.
        generations.advance(source)
        forgetInMemory(source)
    }

    private func forgetInMemory(_ source: StoreKey) {
        inUse.forget([source])
        records.forget([source])
        memory.removeAll(ofSources: [source])
    }

    /// The bytes before the record: a record without them costs a download, bytes without their record cost nothing.
    private func keep(_ original: Original, in places: TierSelection, _ wanted: Wanted) {
        guard original.layer == nil else { return }
        let entry = LoadOriginal.entry(original)
        let fresh = original.claimBytes(places.originals)
        let isSmall = original.body.readableBytes <= min(LoadOriginal.maxMemoryBytes, memory.budgetBytes)
        if fresh.contains(.memory), isSmall { memory.store(entry, for: wanted.keys.original) }
        if fresh.contains(.disk), let disk, !isSmall {
            keepInUse(original, whileWriting: entry, to: disk, wanted)
        } else {
            if fresh.contains(.disk) { disk?.store(entry, for: wanted.keys.original) }
            if isSmall || places.originals.isEmpty { original.settle() }
        }
        records.store(original.record, for: wanted.keys.source, in: original.claimRecord(places.any))
    }

    /// Until the disk has it, an original that memory does not take is still in use: another width would download it again.
    private func keepInUse(
        _ original: Original, whileWriting entry: StoredEntry, to disk: any Storing, _ wanted: Wanted
    ) {
        Task {
            _ = await disk.storeAndWait(entry, for: wanted.keys.original)
            original.settle()
            await withdrawIfPurged(wanted)
        }
    }

    /// Whether there was no purge since the request began.
    func isCurrent(_ wanted: Wanted) -> Bool {
        generations.isCurrent(wanted.moment, of: wanted.keys.source)
    }

    /// Whether nothing has come since that forbids to keep this: no purge, and no other content from a later question.
    func accepts(_ record: SourceRecord, _ wanted: Wanted) -> Bool {
        guard isCurrent(wanted) else { return false }
        guard let known = records.inMemory(wanted.keys.source), known.content != record.content,
            let later = known.askedAt
        else { return true }
        return record.askedAt.map { $0 >= later } ?? false
    }

    private func withdrawIfPurged(_ wanted: Wanted) async {
        guard !isCurrent(wanted) else { return }
        forgetInMemory(wanted.keys.source)
        await disk?.removeAll(ofSources: [wanted.keys.source])
    }
}
