import DarkroomMachine
import DarkroomStore
public import DarkroomTransforms
import NIOCore

/// A cache entry of a source.
public struct CachedEntry: Hashable, Sendable {
    /// The kind of an entry.
    public enum Kind: String, CaseIterable, Sendable {
        /// The hash of a source's content, and its caching metadata.
        case record
        /// A source's bytes.
        case original
        /// A finished image.
        case variant
    }

    /// What the entry holds.
    public var kind: Kind
    /// The key: SHA-256 in 64 hexadecimal digits.
    public var key: String
    /// The tiers that have the entry.
    public var tiers: TierSet = []
    /// The size in bytes, on disk if the disk has the entry, else in memory; nil if no tier has it.
    public var bytes: Int?
    /// The time since it was stored, on disk if the disk has it, else in memory; nil if unknown.
    public var age: Duration?
    /// The number of hits since it entered memory; nil if it is not in memory.
    public var hits: Int?
    /// The format of a variant, if known.
    public var format: OutputFormat?
}

extension CachedEntry {
    init(kind: Kind, _ key: EntryKey) {
        self.init(kind: kind, key: key.entry.hex)
    }

    fileprivate mutating func add(_ tier: CacheTier, bytes: Int) {
        tiers.formUnion(tier.set)
        self.bytes = bytes
    }
}

extension ImageCache {
    /// The request's record, original and variant, with all tiers that have them, whether or not the request reads
    /// those tiers. The shared tier is read only if the request reads it. Nothing changes.
    ///
    /// - Parameter record: the known record of the source. Entries of other content don't count.
    package func entries(of access: CacheAccess, _ known: SourceRecord?) async -> [CachedEntry] {
        let (keys, tiers) = (access.keys, access.options.query)
        let inShared = tiers.union.contains(.shared) ? await shared?.look(for: access, known: nil) : nil
        var record = CachedEntry(kind: .record, keys.record)
        if let found = records.peek(keys.source) { record.add(.memory, bytes: found.costBytes) }
        let onDisk = await disk?.peek(keys.record).flatMap { records.decode($0, of: keys.source) }
        for (tier, found) in [(CacheTier.disk, onDisk), (.shared, inShared?.record)] {
            if let found { record.add(tier, bytes: found.bytes.readableBytes) }
        }
        var original = CachedEntry(kind: .original, keys.original)
        var variant = CachedEntry(kind: .variant, keys.variant)
        guard let known else { return [record, original, variant] }
        for (tier, found) in await peek(keys.original) where found.originalContent == known.content {
            original.add(tier, bytes: found.content.count)
        }
        if tiers.originals.contains(.shared), original.tiers.intersection(tiers.originals).isEmpty,
            let body = await shared?.original(of: access, known)
        {
            original.add(.shared, bytes: body.count)
        }
        for (tier, found) in await peek(keys.variant) + (inShared?.variant.map { [(.shared, $0)] } ?? []) {
            guard let metadata = VariantRecord(found.metadata), metadata.content == known.content else { continue }
            variant.add(tier, bytes: found.content.count)
            variant.format = metadata.format
        }
        return [record, original, variant]
    }

    /// The entry in each tier that has it, memory first.
    private func peek(_ key: EntryKey) async -> [(CacheTier, StoredEntry)] {
        var found: [(CacheTier, StoredEntry)] = []
        if let entry = memory.peek(key) { found.append((.memory, entry)) }
        if let entry = await disk?.peek(key) { found.append((.disk, entry)) }
        return found
    }
}
