import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomStore
import DarkroomTransforms
import Foundation
import NIOCore

/// What the caches have for one request, found without a side effect: no entry counts as used or is promoted.
struct CachedState {
    /// The source's record, if the request may read it.
    private(set) var record: SourceRecord?
    /// The source's bytes, if they are the record's content and the request may read them.
    private(set) var original: Original?
    /// The variant, under the same conditions.
    private(set) var variant: VariantRecord?
    /// Whether the document that holds the placeholders is stored, under the same conditions.
    private(set) var hasPlaceholders = false
    /// The request's record, original and variant, with all tiers that have them.
    private(set) var entries: [CachedEntry]

    init(of request: ResolvedRequest, in caches: PipelineCaches, now: Date) async {
        let keys = request.keys
        let tiers = request.cache.query
        let inMemory = caches.records.peek(keys.source)
        let onDisk = await caches.disk?.peek(keys.record).flatMap { caches.records.decode($0, of: keys.source) }
        record =
            (tiers.union.contains(.memory) ? inMemory : nil) ?? (tiers.union.contains(.disk) ? onDisk : nil)
        var entry = CachedEntry(kind: .record, keys.record)
        if let inMemory { entry.add(.memory, bytes: inMemory.costBytes) }
        if let onDisk { entry.add(.disk, bytes: onDisk.bytes.readableBytes) }
        let readsShared = tiers.union.contains(.shared)
        let shared = readsShared ? await caches.shared?.look(for: request, known: nil) : nil
        if let newest = shared?.record {
            entry.add(.shared, bytes: newest.bytes.readableBytes)
            if record.map({ $0.freshness.remaining(at: now) <= .zero }) ?? true { record = newest }
        }
        entries = [entry]
        await findOriginal(request, tiers.originals, caches)
        await findVariant(keys.variant, tiers.variants, caches, inSharedTier: shared?.variant)
        if let document = request.placeholderRequest, let record {
            hasPlaceholders = await caches.peek(document.keys.variant).contains { tier, found in
                tiers.variants.isSuperset(of: tier.set) && VariantRecord(found.metadata)?.content == record.content
            }
        }
    }

    /// Uses another variant in place of the request's own.
    mutating func standIn(_ other: VariantRecord) { variant = other }

    /// The tiers that have the request's original and variant.
    var location: CacheLocation {
        let tiers = { (kind: CachedEntry.Kind) in entries.first { $0.kind == kind }?.tiers ?? [] }
        return CacheLocation(original: tiers(.original), variant: tiers(.variant))
    }

    private mutating func findOriginal(
        _ request: ResolvedRequest, _ readable: TierSet, _ caches: PipelineCaches
    ) async {
        let key = request.keys.original
        var entry = CachedEntry(kind: .original, key)
        if let record {
            for (tier, found) in await caches.peek(key) where OriginalLookup.content(of: found) == record.content {
                entry.add(tier, bytes: found.content.count)
                guard original == nil, readable.isSuperset(of: tier.set) else { continue }
                original = Original(body: found.content, record: record, tier: tier)
            }
            if readable.contains(.shared), original == nil,
                let body = await caches.shared?.original(of: request, record)
            {
                entry.add(.shared, bytes: body.count)
                original = Original(body: body, record: record, tier: .shared)
            }
        }
        entries.append(entry)
    }

    private mutating func findVariant(
        _ key: EntryKey, _ readable: TierSet, _ caches: PipelineCaches, inSharedTier shared: StoredEntry?
    ) async {
        var entry = CachedEntry(kind: .variant, key)
        if let record {
            for (tier, found) in await caches.peek(key) + (shared.map { [(.shared, $0)] } ?? []) {
                guard let metadata = VariantRecord(found.metadata), metadata.content == record.content else { continue }
                entry.add(tier, bytes: found.content.count)
                entry.format = metadata.format
                if readable.isSuperset(of: tier.set) { variant = metadata }
            }
        }
        entries.append(entry)
    }
}

extension CachedEntry {
    init(kind: Kind, _ key: EntryKey) {
        self.init(kind: kind, key: key.entry.hex)
    }

    fileprivate mutating func add(_ tier: CacheReport.Tier, bytes: Int) {
        tiers.formUnion(tier.set)
        self.bytes = bytes
    }
}

extension PipelineCaches {
    /// The entry in each tier that has it, memory first.
    fileprivate func peek(_ key: EntryKey) async -> [(CacheReport.Tier, StoredEntry)] {
        var found: [(CacheReport.Tier, StoredEntry)] = []
        if let entry = memory.peek(key) { found.append((.memory, entry)) }
        if let entry = await disk?.peek(key) { found.append((.disk, entry)) }
        return found
    }
}
