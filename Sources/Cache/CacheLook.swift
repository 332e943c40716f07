import DarkroomHTTPCaching
import DarkroomMachine
package import DarkroomNetwork
package import DarkroomRequests
package import DarkroomStore
package import DarkroomWaiting
package import NIOCore

/// A tier in which an entry was found.
public enum CacheTier: String, Sendable {
    case memory, disk, shared
}

/// A request as the caches see it.
package struct CacheAccess: Sendable {
    package var keys: RequestKeys
    package var request: SharedRequest
    /// The source's purge epoch when the request started. Results are stored only while it is current.
    package var epoch: PurgeEpoch
    /// When the request's waits end; nil if something else ends them.
    package var deadline: Deadline?

    package init(_ request: ImageRequest, keys: RequestKeys, epoch: PurgeEpoch) {
        (self.request, self.keys, self.epoch) = (SharedRequest(request), keys, epoch)
    }

    package var source: SourceURL { request.input.source }
    package var options: CacheOptions { request.input.cache }
    /// The tenant's part of the caches; nil = entries are stored without counting.
    package var share: CacheShare? { request.input.account?.share as? CacheShare }

    /// What the request decodes, of which some may have failed to decode.
    package var part: SourcePart {
        let output = request.input.output
        return SourcePart(
            request.input.pages.shown(in: output), needsPixels: !output.isHeaderOnly, variant: keys.variant.entry,
            showsDamage: output.damaged == .show)
    }
}

/// The request of a caller, shared by the copies that each step takes: it has some thirty parts to copy.
package final class SharedRequest: Sendable {
    package let input: ImageRequest

    package init(_ input: ImageRequest) { self.input = input }
}

extension PageSelection {
    /// The pages that an output shows: their number does not matter if it holds only one frame.
    package func shown(in output: OutputOptions) -> PageSelection {
        PageSelection(
            first: first, count: output.mayHoldSeveralFrames ? count : 1, isThinned: isThinned, mayBeFewer: mayBeFewer)
    }
}

extension SourceURL {
    /// The host in lowercase without the port; empty for local files.
    package var hostName: String { host.map { "\($0)".lowercased() } ?? "" }
}

/// Whether a lookup changes anything.
package enum LookMode: Sendable {
    /// Found entries count as used, and are copied to nearer tiers.
    case use
    /// Nothing changes.
    case peek
}

/// The result of a lookup of a request's source. Later steps use it instead of a second lookup.
package struct CacheLook: Sendable {
    /// The record of the source; nil if none is known.
    package fileprivate(set) var record: SourceRecord?
    /// The variant's entry in a tier, from any content: nil in the tier if there is none, nil if that is unknown.
    fileprivate var onDisk: StoredEntry??
    fileprivate var inSharedTier: StoredEntry??
    /// The purge epoch when the lookup began, if that was after the request had started.
    fileprivate var epoch: PurgeEpoch?

    package init(record: SourceRecord? = nil) {
        self.record = record
    }

    /// Continues with the origin's answer about the source. This machine's tiers may have changed since the lookup.
    package mutating func replaceRecord(_ record: SourceRecord) {
        self.record = record
        onDisk = nil
    }
}

/// A finished variant of the requested content.
package struct FoundVariant: Sendable {
    package private(set) var entry: StoredEntry
    package let record: VariantRecord
    package let tier: CacheTier

    /// Empty if ``deferredBody`` is not nil.
    package var body: ByteBuffer { entry.body }
    /// The body, if the lookup has left it on disk.
    package var deferredBody: StoredBody? { entry.deferredBody }

    /// Nil for an entry of other content: the source has changed since.
    fileprivate init?(_ entry: StoredEntry?, of content: StoreKey, _ tier: CacheTier) {
        guard let entry, let record = VariantRecord(entry.metadata), record.content == content else { return nil }
        (self.entry, self.record, self.tier) = (entry, record, tier)
    }

    /// The variant with its body in memory; nil if the body can no longer be read.
    package func loaded() async -> FoundVariant? {
        guard let deferredBody else { return self }
        guard let body = await deferredBody.bytes() else { return nil }
        var found = self
        found.entry = StoredEntry(body: body, metadata: entry.metadata)
        return found
    }
}

// MARK: At once

// A lookup has two halves. The half at once never waits: it reads memory, and files that the system has in memory.
// What it does not find, and only that, is looked up in the tiers that have to be waited for.

extension ImageCache {
    /// The known state of the source, if finding it needs no waiting. Nil means that ``look(_:_:)`` has to look.
    ///
    /// A newer download whose image is still being processed does not delay a fresh image in memory.
    package func lookAtOnce(_ access: CacheAccess) -> CacheLook? {
        guard !access.options.waitsForDisk else { return nil }
        if let record = storedRecord(access) ?? originalInUse(access)?.record { return CacheLook(record: record) }
        let (keys, epoch) = (access.keys, epochs.current)
        guard findsVariantWithRecord(access), let found = disk?.entriesAtOnce(for: [keys.record, keys.variant])
        else { return nil }
        var look = CacheLook()
        add(found, to: &look, access, since: epoch)
        return look.record == nil ? nil : look
    }

    /// A variant of this content, if finding it needs no waiting. Nil means that ``furtherVariant(_:of:for:_:_:)`` has
    /// to look.
    package func variantAtOnce(
        _ key: EntryKey, of content: StoreKey, for access: CacheAccess, _ look: CacheLook, _ mode: LookMode = .use
    ) -> FoundVariant? {
        if let found = recentVariant(key, of: content, for: access, mode) { return found }
        guard let disk, access.options.query.variants.contains(.disk) else { return nil }
        if key == access.keys.variant, let entry = look.onDisk {
            return onDisk(entry, key, of: content, access, since: look.epoch ?? access.epoch, mode)
        }
        guard mode == .use else { return nil }
        let epoch = epochs.current
        return onDisk(disk.entriesAtOnce(for: [key])?.first, key, of: content, access, since: epoch)
    }

    /// A variant that another request may have stored a moment ago.
    package func recentVariant(
        _ key: EntryKey, of content: StoreKey, for access: CacheAccess, _ mode: LookMode = .use
    ) -> FoundVariant? {
        guard access.options.query.variants.contains(.memory) else { return nil }
        return FoundVariant(memory.entry(key, mode), of: content, .memory)
    }

    /// The source's record, if it is stored and reading it needs no waiting.
    package func storedRecord(_ access: CacheAccess, _ mode: LookMode = .use) -> SourceRecord? {
        guard access.options.query.union.contains(.memory) else { return nil }
        return mode == .use ? records.inMemory(access.keys.source) : records.peek(access.keys.source)
    }

    /// The record of the origin's newest answer, as far as it is known without waiting.
    package func newestRecord(_ access: CacheAccess, _ mode: LookMode = .use) -> SourceRecord? {
        originalInUse(access)?.record ?? storedRecord(access, mode)
    }

    /// The bytes of a source in progress, if they may be stored.
    package func originalInUse(_ access: CacheAccess) -> Original? {
        originalsInUse[access.keys.source].flatMap { $0.mayBeStored ? $0 : nil }
    }

    /// Whether the source is certainly unknown, as far as that can be decided without waiting.
    package func isUnknown(_ access: CacheAccess) -> Bool {
        let tiers = access.options.query.union
        guard newestRecord(access) == nil, shared == nil || !tiers.contains(.shared) else { return false }
        return disk.map { !tiers.contains(.disk) || $0.isAbsent(access.keys.record) } ?? true
    }

    /// Whether one lookup on disk finds the variant along with the record.
    private func findsVariantWithRecord(_ access: CacheAccess) -> Bool {
        !access.options.waitsForDisk && access.options.query.variants.contains(.disk)
    }

    /// Adds what one lookup on disk has found, up to the first that is missing: the record if it was unknown, then the
    /// variant.
    private func add(
        _ found: [StoredEntry], to look: inout CacheLook, _ access: CacheAccess, since epoch: PurgeEpoch
    ) {
        var found = found[...]
        if look.record == nil {
            guard let entry = found.popFirst() else { return }
            look.record = records.decode(entry, of: access.keys.source)
            if let record = look.record { promote(record, access, since: epoch) }
        }
        (look.onDisk, look.epoch) = (.some(found.first), epoch)
    }
}

// MARK: Further

extension ImageCache {
    /// Looks up the source in this process's memory and on this machine. One lookup on disk finds record and variant.
    package func look(_ access: CacheAccess, _ mode: LookMode = .use) async -> CacheLook {
        var look = CacheLook(record: newestRecord(access, mode))
        let keys = access.keys
        guard let disk else { return look }
        if mode == .use, findsVariantWithRecord(access) {
            let wanted = look.record == nil ? [keys.record, keys.variant] : [keys.variant]
            let found = await withCheckedContinuation { continuation in
                if let disk = disk as? any DeferringStore {
                    disk.lookDeferring(for: wanted) { continuation.resume(returning: $0) }
                } else {
                    disk.look(for: wanted) { continuation.resume(returning: $0) }
                }
            }
            add(found, to: &look, access, since: access.epoch)
        } else if look.record == nil, access.options.query.union.contains(.disk) {
            look.record = await disk.entry(keys.record, mode).flatMap { records.decode($0, of: keys.source) }
            if mode == .use, let record = look.record { promote(record, access, since: access.epoch) }
        }
        return look
    }

    /// Looks in the tiers beyond this machine for entries that are newer or missing here. If nothing is known of the
    /// source, a fresh record that the variant was stored with is not compared with newer ones there.
    ///
    /// - Returns: whether it looked.
    @discardableResult
    package func lookFurther(
        _ access: CacheAccess, _ look: inout CacheLook, _ mode: LookMode = .use
    ) async -> Bool {
        guard let shared, access.options.query.union.contains(.shared) else { return false }
        var isUsable: (@Sendable (SourceRecord) -> Bool)?
        // A nearer tier that was not read may have a newer record.
        if look.record == nil, access.options.query.variants == .all {
            isUsable = { [self] in mayUse($0, access.options.policy) }
        }
        let found = await shared.look(for: access, known: look.record, isUsable: isUsable)
        look.inSharedTier = .some(found.variant)
        guard let shared = found.record else { return true }
        // Its source may have been purged while this server could not read the purges.
        let record = records.judged(shared, isOnDisk: true)
        if mode == .use {
            let nearer = access.options.store.union.subtracting(.shared)
            if isCurrent(access, record) { records.store(record, for: access.keys.source, in: nearer) }
            await removeIfPurged(access, record)
        }
        look.record = record
        return true
    }

    /// Whether a record may be used although a newer one may exist, apart from purges that this server knows. A record
    /// that varies may have been stored for other requests.
    private func mayUse(_ record: SourceRecord, _ policy: RequestCachePolicy) -> Bool {
        let now = now()
        let freshness = record.freshness
        return !record.varies && freshness.remaining(at: now) > .zero
            && CacheEvaluation(stored: freshness, isSelected: true, policy: policy, now: now).decision == .use
            && !records.unconfirmedRecords.concerns(record, isOnDisk: true)
    }

    /// Looks for a variant of this content that ``variantAtOnce(_:of:for:_:_:)`` has not found.
    package func furtherVariant(
        _ key: EntryKey, of content: StoreKey, for access: CacheAccess, _ look: CacheLook, _ mode: LookMode = .use
    ) async -> FoundVariant? {
        let tiers = access.options.query.variants
        let isOwn = key == access.keys.variant
        if tiers.contains(.disk), let disk, !isOwn || look.onDisk == nil,
            let found = onDisk(await disk.entry(key, mode), key, of: content, access, since: access.epoch, mode)
        {
            return found
        }
        guard tiers.contains(.shared), let shared else { return nil }
        var known = isOwn ? look.inSharedTier : nil
        if known == nil { known = .some(await shared.store.variant(key)?.entry) }
        guard let entry = known ?? nil, let found = FoundVariant(entry, of: content, .shared) else { return nil }
        if mode == .use { await adopt(entry, for: key, access, look.record, in: access.options.store.variants) }
        return found
    }

    /// The variant in an entry from disk, which is copied to memory unless its body stays on disk: the system's file
    /// cache serves large bodies as well, and leaves this memory to many small ones.
    private func onDisk(
        _ entry: StoredEntry?, _ key: EntryKey, of content: StoreKey, _ access: CacheAccess, since epoch: PurgeEpoch,
        _ mode: LookMode = .use
    ) -> FoundVariant? {
        guard let entry, let found = FoundVariant(entry, of: content, .disk) else { return nil }
        let isLoaded = entry.deferredBody == nil
        if mode == .use, isLoaded, access.options.store.variants.contains(.memory) {
            promote(entry, for: key, access, since: epoch)
        }
        return found
    }

    /// Looks for the bytes of a source whose content is known: in work in progress, then in the tiers that the request
    /// reads.
    package func original(
        _ record: SourceRecord, for access: CacheAccess, _ mode: LookMode = .use
    ) async -> Original? {
        if let original = originalsInUse[access.keys.source], original.record.content == record.content {
            return original
        }
        let (key, tiers) = (access.keys.original, access.options.query.originals)
        func isMeant(_ entry: StoredEntry) -> Bool { entry.originalContent == record.content }
        if tiers.contains(.memory), let entry = memory.entry(key, mode), isMeant(entry) {
            return Original(body: entry.content, record: record, tier: .memory)
        }
        if tiers.contains(.disk), let entry = await disk?.entry(key, mode), isMeant(entry) {
            let isSmall = entry.content.count <= Original.maxMemoryBytes
            if mode == .use, isSmall, access.options.store.originals.contains(.memory) {
                promote(entry, for: key, access, since: access.epoch)
            }
            return Original(body: entry.content, record: record, tier: .disk)
        }
        guard tiers.contains(.shared), let body = await shared?.original(of: access, record) else { return nil }
        let original = Original(body: body, record: record, tier: .shared)
        if mode == .use {
            let isLarge = body.count > Original.maxMemoryBytes
            let nearer = access.options.store.originals.subtracting(isLarge ? .memory : [])
            await adopt(original.entry, for: key, access, record, in: nearer)
        }
        return original
    }
}

extension MemoryStore {
    fileprivate func entry(_ key: EntryKey, _ mode: LookMode) -> StoredEntry? {
        mode == .use ? entry(for: key) : peek(key)
    }
}

extension Storing {
    fileprivate func entry(_ key: EntryKey, _ mode: LookMode) async -> StoredEntry? {
        mode == .use ? await entry(for: key) : await peek(key)
    }
}
