package import DarkroomHTTPCaching
import DarkroomMachine
package import DarkroomNetwork
import DarkroomRequests
package import DarkroomStore
package import DarkroomTransforms
import DarkroomWaiting
package import Foundation
package import Logging

/// The cached knowledge of sources: their records, originals and variants in the tiers, remembered failures, and the
/// purges that have outdated any of them.
///
/// Only this type depends on the tiers and their order. A request looks entries up with its keys and options, in one of
/// three ways. A lookup at once never waits. A lookup for use marks the found entries as used and copies them to nearer
/// tiers. A peek has no side effect.
package final class ImageCache: Sendable {
    let memory: MemoryStore
    let disk: (any Storing)?
    let shared: SharedTier?
    let records: SourceRecords
    package let failures: FailureMemory
    let originalsInUse = OriginalsInUse()
    let epochs = PurgeEpochs()
    /// Nil without a shared tier.
    let follower: PurgeFollower?
    let policy: FreshnessPolicy
    let now: @Sendable () -> Date
    let clock: any Clock<Duration>
    let processing: any ImageProcessing
    let identity: @Sendable (SourceURL) -> String
    let clearOutages: @Sendable (_ host: String?) -> Void
    /// Writes that must end although no request waits for them.
    let writes = OwnedTasks<Never>()

    /// The divisor of the memory tier's budget that gives the budget of the records: one sixteenth.
    private static let recordsDivisor = 16

    /// - Parameters:
    ///   - memory: the first tier. Records take another sixteenth of its budget.
    ///   - disk: the second tier; nil = none.
    ///   - shared: the third tier, which the caller closes; nil = none.
    ///   - processing: has decoded images, which a purge removes too.
    ///   - identity: the identity of a source; see ``RequestKeys/source(_:)``.
    ///   - clearOutages: clears the recorded outages of a host, or of all hosts.
    ///   - now: the wall clock, for ages.
    ///   - clock: the clock of time limits.
    ///   - random: 0..<1, for the jitter of the backoff after failures.
    package init(
        memory: MemoryStore, disk: (any Storing)? = nil, shared: SharedStore? = nil, policy: FreshnessPolicy,
        processing: any ImageProcessing, identity: @escaping @Sendable (SourceURL) -> String,
        clearOutages: @escaping @Sendable (_ host: String?) -> Void, logger: Logger,
        now: @escaping @Sendable () -> Date, clock: any Clock<Duration>, random: @escaping @Sendable () -> Double
    ) {
        self.memory = memory
        self.disk = disk
        self.shared = shared.map { SharedTier($0, policy: policy) }
        records = SourceRecords(
            budgetBytes: memory.budgetBytes / Self.recordsDivisor, disk: disk, suspectsDisk: shared != nil,
            policy: policy)
        failures = FailureMemory(policy: policy, random: random)
        follower = self.shared.map { [records] in
            PurgeFollower(
                $0, disk: disk, unconfirmedRecords: records.unconfirmedRecords,
                source: { RequestKeys.source(identity($0)) }, clock: clock, logger: logger)
        }
        self.policy = policy
        self.now = now
        self.clock = clock
        self.processing = processing
        self.identity = identity
        self.clearOutages = clearOutages
    }

    package func source(of url: SourceURL) -> StoreKey { RequestKeys.source(identity(url)) }

    // MARK: Currency

    package func epoch(of source: StoreKey, _ url: SourceURL) -> PurgeEpoch { epochs.current(of: source, url) }

    /// Whether the source has not been purged since the request started.
    ///
    /// - Parameter record: the record to store, whose tags may have been purged; nil if it is unknown.
    package func isCurrent(_ access: CacheAccess, _ record: SourceRecord?) -> Bool {
        isCurrent(access.epoch, access, record)
    }

    private func isCurrent(_ epoch: PurgeEpoch, _ access: CacheAccess, _ record: SourceRecord?) -> Bool {
        epochs.isCurrent(epoch, of: access, record) { record.flatMap { shared?.orderOfResponse($0) } }
    }

    /// Whether a request may share work that another started at this moment, maybe for another address of the source:
    /// no purge before the request concerns what it found.
    package func mayShare(_ record: SourceRecord, since epoch: PurgeEpoch, _ access: CacheAccess) -> Bool {
        isCurrent(epoch, access, record) || !isCurrent(access, record)
    }

    /// Whether a record may be stored: its source was not purged, and no later response brought other content.
    func accepts(_ record: SourceRecord, _ access: CacheAccess) -> Bool {
        guard isCurrent(access, record) else { return false }
        guard let known = records.inMemory(access.keys.source), known.content != record.content,
            let later = known.requestedAt
        else { return true }
        return record.requestedAt.map { $0 >= later } ?? false
    }

    // MARK: Tiers

    /// Whether the request's variants can be stored.
    package func keepsVariants(of access: CacheAccess) -> Bool {
        let tiers = access.options.store.variants
        return tiers.contains(.memory) && memory.budgetBytes > 0 || tiers.contains(.disk) && disk != nil
            || storesLater(access)
    }

    /// Whether the request's variants are written to a tier that accepts or refuses them only later.
    package func storesLater(_ access: CacheAccess) -> Bool {
        shared != nil && access.options.store.variants.contains(.shared)
    }

    /// Evicts from memory, decoded images included, until this fraction, 0 to 1, of the bytes held is left.
    package func shrinkMemory(toFraction fraction: Double) {
        records.shrink(toFraction: fraction)
        memory.shrink(toBytes: Int(Double(memory.statistics.bytes) * fraction))
        // Last, because it returns memory that the calls above freed to the system.
        processing.shrinkMemory(toFraction: fraction)
    }

    /// The tiers among these in which the tenant of a request may store an entry. Other entries of the tenant leave
    /// memory and disk for it. The tier that is shared with other servers has no shares.
    func admitted(_ tiers: TierSet, _ key: EntryKey, bytes: Int, _ access: CacheAccess) -> TierSet {
        guard let share = access.share, !tiers.isDisjoint(with: [.memory, .disk]) else { return tiers }
        guard let leaving = share.insert(key, bytes: bytes) else { return tiers.intersection(.shared) }
        guard !leaving.isEmpty else { return tiers }
        for key in leaving { memory.remove(key) }
        if let disk {
            writes.run {
                for key in leaving { await disk.remove(key) }
            }
        }
        return tiers
    }

    /// Removes the entries that are past their maximum age.
    package func removeExpired() async -> PurgeReport {
        var report = PurgeReport()
        guard let removed = await disk?.removeExpired() else { return report }
        report.entries = removed.entries
        report.bytes = removed.bytes
        return report
    }

    /// Ends work that no request waits for. Entries that were handed to a tier are still written.
    package func shutdown() {
        writes.shutdown()
        follower?.shutdown()
    }

    // MARK: Copies between tiers

    /// Copies a record from disk to memory, unless a purge intervened.
    func promote(_ record: SourceRecord, _ access: CacheAccess, since epoch: PurgeEpoch) {
        let source = access.keys.source
        if epochs.isCurrent(epoch, of: access, record) { records.promote(record, for: source) }
        if !epochs.isCurrent(epoch, of: access, record) { records.remove([source]) }
    }

    /// Copies an entry from disk to memory, unless a purge intervened, or memory is full and the entry was not used
    /// lately.
    func promote(_ entry: StoredEntry, for key: EntryKey, _ access: CacheAccess, since epoch: PurgeEpoch) {
        if epochs.isCurrent(epoch, of: access, nil) { memory.promote(entry, for: key) }
        if !epochs.isCurrent(epoch, of: access, nil) { memory.remove(key) }
    }

    /// Copies an entry from the shared tier to the nearer ones, unless a purge intervened.
    func adopt(
        _ entry: StoredEntry, for key: EntryKey, _ access: CacheAccess, _ record: SourceRecord?, in tiers: TierSet
    ) async {
        guard isCurrent(access, record) else { return }
        let tiers = admitted(tiers, key, bytes: entry.content.count, access)
        if tiers.contains(.memory) { memory.store(entry, for: key) }
        if tiers.contains(.disk) { disk?.store(entry, for: key) }
        await removeIfPurged(access, record)
    }

    /// Removes the entries that were stored while a purge intervened.
    func removeIfPurged(_ access: CacheAccess, _ record: SourceRecord?) async {
        guard !isCurrent(access, record) else { return }
        removeFromMemory(access.keys.source)
        await disk?.removeAll(ofSources: [access.keys.source])
    }

    func removeFromMemory(_ source: StoreKey) {
        originalsInUse.remove([source])
        records.remove([source])
        memory.removeAll(ofSources: [source])
    }
}

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
