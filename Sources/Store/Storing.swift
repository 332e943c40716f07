public import NIOCore

/// A persistent store of originals and variants: the disk tier of the pipeline.
///
/// ``DiskStore`` is the built-in store. Another store may keep entries anywhere, under these rules:
///
/// - It may lose any entry at any time.
/// - A lookup returns byte for byte the last entry stored for the key, or an earlier one, but never an entry that has
///   been removed. An entry with ``StoredEntry/isRestored`` may be older, or may have been removed.
/// - Removals and queries by source run after the writes that were queued before them, and before writes queued later.
public protocol Storing: Sendable {
    /// Returns the entry for this key; nil if it is missing, is past its maximum age or can't be read intact.
    func entry(for key: EntryKey) async -> StoredEntry?

    /// Looks for entries of one source like ``entry(for:)``, in the order of the keys until one is missing. By default,
    /// one after the other.
    ///
    /// - Parameter deliver: called once with the entries up to the first that is missing, on any thread, possibly
    ///   before the return.
    func look(for keys: [EntryKey], deliver: @escaping @Sendable (_ found: [StoredEntry]) -> Void)

    /// Returns all of these entries of one source if that needs no waiting for a device, within some tens of
    /// microseconds. By default nil.
    /// - Returns: nil if an entry is missing or would need waiting. The call does not count as a lookup, and
    ///   ``look(for:deliver:)`` may still find the entry.
    func entriesAtOnce(for keys: [EntryKey]) -> [StoredEntry]?

    /// Whether the store certainly has no entry for this key, as far as that is known without waiting for a device.
    /// Does not count as a lookup. By default false.
    func isAbsent(_ key: EntryKey) -> Bool

    /// Stores or replaces the entry for this key. Returns at once: the write happens later, or not at all under
    /// pressure.
    /// - Returns: false if the entry was refused: it is too large, the queue is full, or writing fails at present.
    @discardableResult
    func store(_ entry: StoredEntry, for key: EntryKey) -> Bool

    /// Stores the entry like ``store(_:for:)``, and waits until it is written.
    /// - Returns: whether it is stored now, so that ``entry(for:)`` finds it.
    func storeAndWait(_ entry: StoredEntry, for key: EntryKey) async -> Bool

    /// Removes the entry for this key, including a queued write. Returns when it is gone.
    func remove(_ key: EntryKey) async

    /// Removes all entries of these sources, including queued writes. Returns when they are gone.
    /// - Returns: the number and size of the removed entries.
    @discardableResult
    func removeAll(ofSources sources: [StoreKey]) async -> StoreTotals

    /// Removes all entries, including queued writes. Returns when they are gone.
    /// - Returns: the number and size of the removed entries.
    @discardableResult
    func removeEverything() async -> StoreTotals

    /// Removes all entries that are past their maximum age; does nothing in a store without one.
    /// - Returns: the number and size of the removed entries.
    @discardableResult
    func removeExpired() async -> StoreTotals

    /// Returns the sources that have an entry with a matching label, each once and in no particular order.
    func sources(matching filter: LabelFilter) async -> [StoreKey]

    /// Returns the totals of each of these sources; sources without entries are left out.
    func totals(ofSources sources: [StoreKey]) async -> [StoreKey: StoreTotals]

    /// Returns the entry for this key like ``entry(for:)``, but without counting as a use. By default the same as
    /// ``entry(for:)``.
    func peek(_ key: EntryKey) async -> StoredEntry?

    /// Returns the first `limit` entries of a source in the order of their keys. By default none.
    func summaries(ofSource source: StoreKey, limit: Int) async -> [EntrySummary]
}

/// A store that can leave large bodies where they are, so that a response reads them in pieces.
package protocol DeferringStore: Storing {
    /// Looks for entries like ``Storing/look(for:deliver:)``. An entry with a large body may have
    /// ``StoredEntry/deferredBody`` instead of a body.
    func lookDeferring(for keys: [EntryKey], deliver: @escaping @Sendable (_ found: [StoredEntry]) -> Void)
}

extension Storing {
    public func look(for keys: [EntryKey], deliver: @escaping @Sendable (_ found: [StoredEntry]) -> Void) {
        Task.immediate {
            var found: [StoredEntry] = []
            for key in keys {
                guard let entry = await entry(for: key) else { break }
                found.append(entry)
            }
            deliver(found)
        }
    }

    public func entriesAtOnce(for keys: [EntryKey]) -> [StoredEntry]? { nil }
    public func isAbsent(_ key: EntryKey) -> Bool { false }
    public func peek(_ key: EntryKey) async -> StoredEntry? { await entry(for: key) }
    public func summaries(ofSource source: StoreKey, limit: Int) async -> [EntrySummary] { [] }
}

/// A condition on labels, which selects sources with an entry that has a matching label.
public enum LabelFilter: Hashable, Sendable {
    /// Labels equal to this one.
    case equal(String)
    /// Labels that begin with this prefix.
    case prefix(String)
    /// Every source, including those without labels.
    case all

    /// Whether an entry with these labels matches. Compares bytes of UTF-8, so that labels that only look the same
    /// differ.
    public func matches(_ labels: [String]) -> Bool {
        switch self {
        case .equal(let label): labels.contains { $0.utf8.elementsEqual(label.utf8) }
        case .prefix(let prefix): labels.contains { $0.utf8.starts(with: prefix.utf8) }
        case .all: true
        }
    }
}

/// A number of entries, and the space that they take.
public struct StoreTotals: Equatable, Sendable {
    /// The number of entries.
    public var entries = 0
    /// The bytes that they take. On disk, each file takes whole blocks of 4 KiB, and an entry without a file nothing.
    public var bytes = 0

    /// A number of entries that take this much in all.
    public init(entries: Int = 0, bytes: Int = 0) {
        self.entries = entries
        self.bytes = bytes
    }

    static func += (totals: inout StoreTotals, change: StoreTotals) {
        totals.entries += change.entries
        totals.bytes += change.bytes
    }

    static prefix func - (totals: StoreTotals) -> StoreTotals {
        StoreTotals(entries: -totals.entries, bytes: -totals.bytes)
    }
}

/// A description of an entry that doesn't require reading it.
public struct EntrySummary: Equatable, Sendable {
    public var key: EntryKey
    /// The size of the entry in the store, in bytes.
    public var bytes: Int
    /// The time since the entry was stored.
    public var age: Duration
    /// The number of hits since then; nil if the store doesn't count them.
    public var hits: Int?
    /// The metadata of the entry; nil if the store would have to read the entry for it.
    public var metadata: ByteBuffer?

    public init(key: EntryKey, bytes: Int, age: Duration, hits: Int? = nil, metadata: ByteBuffer? = nil) {
        self.key = key
        self.bytes = bytes
        self.age = age
        self.hits = hits
        self.metadata = metadata
    }
}

/// The contents of a memory store, and its counts since it was created.
public struct MemoryStatistics: Equatable, Sendable {
    /// The number of entries.
    public var entries = 0
    /// The cost of all entries, in bytes.
    public var bytes = 0
    /// Lookups that found their entry.
    public var hits = 0
    /// Lookups that found nothing.
    public var misses = 0
    /// Entries evicted to free space for others.
    public var evictions = 0
    /// Times that entries were evicted because memory was short. These entries don't count as ``evictions``.
    public var shrinks = 0
}

/// The contents of a disk store, and its counts since it was opened.
public struct DiskStatistics: Equatable, Sendable {
    /// The number of entries.
    public var entries = 0
    /// The bytes that their files take, in whole blocks of 4 KiB.
    public var bytes = 0
    /// The bytes that the index and its log take; they count for the budget too.
    public var indexBytes = 0
    /// Lookups that found their entry.
    public var hits = 0
    /// Lookups that found nothing, including lookups of corrupt and expired entries.
    public var misses = 0
    /// Entries evicted to stay within the budget, or to free space on the volume.
    public var evictions = 0
    /// Entries removed because they had reached their maximum age.
    public var expirations = 0
    /// Entries that a lookup found corrupt, and removed.
    public var corrupt = 0
    /// Entries that were not written: refused at once, or the write failed.
    public var droppedWrites = 0
    /// The number of entries that are queued or being written.
    public var queuedWrites = 0
    /// The size of the files of these entries, in bytes.
    public var queuedBytes = 0
}
