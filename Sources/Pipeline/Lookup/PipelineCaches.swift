import DarkroomStore

/// The caches of a pipeline: its tiers, the parsed records, and the originals that work is under way for.
struct PipelineCaches: Sendable {
    let memory: MemoryStore
    let disk: (any Storing)?
    let shared: SharedTier?
    let records: SourceRecords
    let originalsInUse = OriginalsInUse()
    let epochs = PurgeEpochs()

    /// Whether any of these tiers exists.
    func hasTier(in tiers: TierSet) -> Bool {
        tiers.contains(.memory) && memory.budgetBytes > 0 || tiers.contains(.disk) && disk != nil
            || tiers.contains(.shared) && shared != nil
    }

    /// What is known of the request's source: from a download whose image is being made, else from the tiers that the
    /// request reads.
    ///
    /// - Parameter prior: what an earlier lookup on disk has found, if there was one.
    func record(for request: ResolvedRequest, prior: DiskFindings = DiskFindings()) async -> SourceRecord? {
        if case .looked(let record) = prior.record { return record }
        if let record = recordAtHand(for: request) { return record }
        guard request.cache.query.union.contains(.disk) else { return nil }
        let record = await records.onDisk(request.keys.source)
        if let record { promote(record, request) }
        return record
    }

    /// What is known of the request's source without looking on disk.
    func recordAtHand(for request: ResolvedRequest) -> SourceRecord? {
        let source = request.keys.source
        if let original = originalsInUse[source], original.tier == nil, original.mayBeStored { return original.record }
        return request.cache.query.union.contains(.memory) ? records.inMemory(source) : nil
    }

    /// Copies a record from disk to memory, unless a purge intervened.
    func promote(_ record: SourceRecord, _ request: ResolvedRequest) {
        let source = request.keys.source
        if isCurrent(request) { records.promote(record, for: source) }
        if !isCurrent(request) { records.remove([source]) }
    }

    /// Copies a record from the shared tier to the nearer ones, unless a purge intervened.
    func adopt(_ record: SourceRecord, _ request: ResolvedRequest) async {
        let source = request.keys.source
        let tiers = request.cache.store.union.subtracting(.shared)
        if isCurrent(request) { records.store(record, for: source, in: tiers) }
        if !isCurrent(request) { await withdraw(source) }
    }

    /// Copies an entry from the shared tier to the nearer ones, unless a purge intervened.
    func adopt(
        _ entry: StoredEntry, for key: EntryKey, _ request: ResolvedRequest, in tiers: TierSet
    ) async {
        guard isCurrent(request) else { return }
        if tiers.contains(.memory) { memory.store(entry, for: key) }
        if tiers.contains(.disk) { disk?.store(entry, for: key) }
        if !isCurrent(request) { await withdraw(key.source) }
    }

    /// Removes what was stored while a purge intervened.
    func withdraw(_ source: StoreKey) async {
        removeFromMemory(source)
        await disk?.removeAll(ofSources: [source])
    }

    func removeFromMemory(_ source: StoreKey) {
        originalsInUse.remove([source])
        records.remove([source])
        memory.removeAll(ofSources: [source])
    }

    /// Copies an entry from disk to memory, unless a purge intervened.
    func promote(_ entry: StoredEntry, for key: EntryKey, _ request: ResolvedRequest) {
        if isCurrent(request) { memory.store(entry, for: key) }
        if !isCurrent(request) { memory.remove(key) }
    }

    /// Whether the source has not been purged since the request started.
    func isCurrent(_ request: ResolvedRequest) -> Bool {
        epochs.isCurrent(request.epoch, of: request.keys.source)
    }

    /// Whether a record may be stored: there was no purge, and no later response brought other content.
    func accepts(_ record: SourceRecord, _ request: ResolvedRequest) -> Bool {
        guard isCurrent(request) else { return false }
        guard let known = records.inMemory(request.keys.source), known.content != record.content,
            let later = known.requestedAt
        else { return true }
        return record.requestedAt.map { $0 >= later } ?? false
    }
}
