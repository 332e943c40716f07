import DarkroomEviction
import DarkroomMachine
import NIOCore
import Synchronization

/// A store in memory within a byte budget, with SIEVE eviction.
///
/// An entry costs the bytes of its body, metadata and labels plus ``entryOverheadBytes``. A buffer that is a slice of a
/// storage more than twice its size is copied first, so that a small entry never pins a large block; with an allocator
/// that rounds up, the store may thus take up to twice its budget. All methods can be called from any thread and return
/// quickly: one lock protects the table, and no bytes are copied or freed under it.
public final class MemoryStore: Sendable {
    /// The cost of an entry in addition to its bytes: keys, node, buffer headers and its share of the tables. Measured
    /// as 260 to 390 bytes for sources with ten entries, and 930 for sources with one.
    public static let entryOverheadBytes = 768

    /// The bytes that a shrink evicts at a time, so that lookups get the lock in between.
    private static let shrinkStepBytes = 1 << 20

    /// The byte budget; 0 disables the store.
    public let budgetBytes: Int

    private let maxFiles: Int
    private let state: Mutex<State>
    private let uptime: @Sendable () -> Duration

    /// A store of at most `budgetBytes`; 0 disables it.
    ///
    /// - Parameters:
    ///   - budgetBytes: the byte budget.
    ///   - maxFiles: the maximum number of entries whose bodies stay in memory files, each of which takes a descriptor.
    ///     The bodies of other entries are copied. Default: 512.
    ///   - uptime: the time since an arbitrary moment, by which entries age; it is never set.
    public init(
        budgetBytes: Int, maxFiles: Int = 512, uptime: @escaping @Sendable () -> Duration = DiskStore.uptime
    ) {
        self.budgetBytes = max(0, budgetBytes)
        self.maxFiles = maxFiles
        self.uptime = uptime
        state = Mutex(State(budgetBytes: self.budgetBytes))
    }

    /// The contents of the store and its counts since it was created.
    public var statistics: MemoryStatistics {
        state.withLock { $0.statistics }
    }

    /// The number of sources in the index by source. The index has only sources with an entry, so that it stays
    /// bounded.
    var indexedSourceCount: Int {
        state.withLock { $0.entriesBySource.count }
    }

    /// The entry for this key. A hit protects the entry from the next eviction.
    public func entry(for key: EntryKey) -> StoredEntry? {
        state.withLock { $0.entry(for: key) }
    }

    /// The entry for this key, without counting as a lookup or as a hit.
    public func peek(_ key: EntryKey) -> StoredEntry? {
        state.withLock { $0.table.peek(key)?.entry }
    }

    /// The first `limit` entries of a source in the order of their keys, without counting as hits.
    public func summaries(ofSource source: StoreKey, limit: Int) -> [EntrySummary] {
        let now = uptime()
        let held = state.withLock { state in
            state.entries(ofSource: source).map { ($0, hits: state.table.hits($0.key)) }
        }
        return held.map { held, hits in
            EntrySummary(
                key: held.key, bytes: held.costBytes, age: now - held.storedAt, hits: hits,
                metadata: held.entry.metadata)
        }.sorted { $0.key.entry < $1.key.entry }.prefix(limit).map(\.self)
    }

    /// Stores or replaces the entry for this key, and evicts others if the store would exceed its budget. An entry that
    /// costs more than the whole budget is not stored, but still removes the entry that it would have replaced.
    ///
    /// - Returns: whether the entry was stored.
    @discardableResult
    public func store(_ entry: StoredEntry, for key: EntryKey) -> Bool {
        let mayHoldFile = entry.content.file == nil || state.withLock { $0.files } < maxFiles
        let held = Held(key: key, entry: entry.compacted(mayHoldFile: mayHoldFile), storedAt: uptime())
        let freed = state.withLock { $0.store(held) }
        // Freed here, after the lock, as in all methods below.
        _ = consume freed
        return held.costBytes <= budgetBytes
    }

    /// Stores an entry that another store has too. A full store takes only entries that come again soon: for others, it
    /// would evict as many that may be asked for again.
    ///
    /// - Returns: whether the entry was stored.
    @discardableResult
    package func promote(_ entry: StoredEntry, for key: EntryKey) -> Bool {
        let costBytes = Held.costBytes(of: entry)
        guard costBytes <= budgetBytes, state.withLock({ $0.takes(key, costBytes: costBytes) }) else { return false }
        return store(entry, for: key)
    }

    /// Removes the entry for this key.
    public func remove(_ key: EntryKey) {
        let freed = state.withLock { $0.remove(key) }
        _ = consume freed
    }

    /// Removes all entries of these sources.
    /// - Returns: their number and cost.
    @discardableResult
    public func removeAll(ofSources sources: some Sequence<StoreKey>) -> StoreTotals {
        var removed = StoreTotals()
        for source in sources {
            removed += StoreTotals(of: state.withLock { $0.removeAll(ofSource: source) })
        }
        return removed
    }

    /// Removes all entries at once.
    /// - Returns: their number and cost.
    @discardableResult
    public func removeEverything() -> StoreTotals {
        let freed = state.withLock { $0.removeEverything() }
        return StoreTotals(entries: freed.statistics.entries, bytes: freed.statistics.bytes)
    }

    /// The number and cost of the entries of a source.
    public func totals(ofSource source: StoreKey) -> StoreTotals {
        StoreTotals(of: state.withLock { $0.entries(ofSource: source) })
    }

    /// Evicts entries until the remaining entries cost at most `targetBytes`, entries without a recent hit first. The
    /// budget doesn't change: the store may fill up again.
    /// - Returns: the number and cost of the evicted entries.
    @discardableResult
    public func shrink(toBytes targetBytes: Int) -> StoreTotals {
        var removed = StoreTotals()
        var step = statistics.bytes
        while step > targetBytes {
            step = max(targetBytes, step - Self.shrinkStepBytes)
            removed += StoreTotals(of: state.withLock { $0.shrink(toBytes: step) })
        }
        if removed.entries > 0 { state.withLock { $0.counters.shrinks += 1 } }
        return removed
    }
}

private struct Held: Sendable {
    let key: EntryKey
    let entry: StoredEntry
    let costBytes: Int
    let storedAt: Duration

    init(key: EntryKey, entry: StoredEntry, storedAt: Duration) {
        self.key = key
        self.entry = entry
        self.storedAt = storedAt
        costBytes = Self.costBytes(of: entry)
    }

    static func costBytes(of entry: StoredEntry) -> Int {
        entry.content.count + entry.metadata.readableBytes + entry.labels.reduce(0) { $0 + $1.utf8.count }
            + MemoryStore.entryOverheadBytes
    }
}

extension StoreTotals {
    fileprivate init(of held: [Held]) {
        self.init(entries: held.count, bytes: held.reduce(0) { $0 + $1.costBytes })
    }
}

/// The state under the lock. Methods assume that the lock is held, and return the entries that are to be freed after
/// it.
private struct State: Sendable {
    var table: SieveTable<EntryKey, Held>
    /// The entries of each source, so that removing a source needs no search.
    var entriesBySource: [StoreKey: Set<StoreKey>] = [:]
    var counters = MemoryStatistics()
    /// The number of entries whose bodies are in memory files.
    var files = 0
    /// Of entries that came while the table was full.
    var doorkeeper = Doorkeeper(places: 1 << 16)

    init(budgetBytes: Int) {
        table = SieveTable(budgetBytes: budgetBytes)
    }

    var statistics: MemoryStatistics {
        var statistics = counters
        statistics.entries = table.count
        statistics.bytes = table.bytes
        return statistics
    }

    mutating func entry(for key: EntryKey) -> StoredEntry? {
        let held = table.value(for: key)
        if held == nil { counters.misses += 1 } else { counters.hits += 1 }
        return held?.entry
    }

    /// Whether there is room for an entry, or its key came lately or has an entry.
    mutating func takes(_ key: EntryKey, costBytes: Int) -> Bool {
        table.bytes + costBytes <= table.budgetBytes || doorkeeper.knows(key.entry.trailingWord)
            || table.peek(key) != nil
    }

    mutating func store(_ held: Held) -> [Held] {
        let replaced = remove(held.key).map { [$0] } ?? []
        guard held.costBytes <= table.budgetBytes else { return replaced }
        let evicted = table.insert(held, cost: held.costBytes, for: held.key)
        entriesBySource[held.key.source, default: []].insert(held.key.entry)
        files += [held].fileCount
        unindex(evicted)
        counters.evictions += evicted.count
        return replaced + evicted
    }

    mutating func remove(_ key: EntryKey) -> Held? {
        guard let held = table.remove(for: key) else { return nil }
        unindex([held])
        return held
    }

    mutating func removeAll(ofSource source: StoreKey) -> [Held] {
        let entries = entriesBySource.removeValue(forKey: source) ?? []
        let removed = entries.compactMap { table.remove(for: EntryKey(source: source, entry: $0)) }
        files -= removed.fileCount
        return removed
    }

    mutating func removeEverything() -> State {
        let before = self
        table.removeAll()
        entriesBySource = [:]
        files = 0
        return before
    }

    func entries(ofSource source: StoreKey) -> [Held] {
        (entriesBySource[source] ?? []).compactMap { table.peek(EntryKey(source: source, entry: $0)) }
    }

    mutating func shrink(toBytes targetBytes: Int) -> [Held] {
        let evicted = table.shrink(toBytes: targetBytes)
        unindex(evicted)
        return evicted
    }

    /// Removes entries that have left the table from the index by source.
    private mutating func unindex(_ gone: [Held]) {
        files -= gone.fileCount
        for key in gone.map(\.key) {
            guard let index = entriesBySource.index(forKey: key.source) else { continue }
            entriesBySource.values[index].remove(key.entry)
            if entriesBySource.values[index].isEmpty { entriesBySource.remove(at: index) }
        }
    }
}

extension [Held] {
    /// The number of entries whose bodies are in memory files.
    fileprivate var fileCount: Int { count { $0.entry.content.file != nil } }
}

extension StoredEntry {
    /// The same entry in buffers without much more capacity than readable bytes.
    fileprivate func compacted(mayHoldFile: Bool) -> StoredEntry {
        let content = mayHoldFile ? content : content.inOrdinaryMemory
        return StoredEntry(
            content: content.file == nil ? SharedBytes(Self.compacted(content.buffer)) : content,
            metadata: Self.compacted(metadata), labels: labels)
    }

    private static func compacted(_ buffer: ByteBuffer) -> ByteBuffer {
        guard buffer.storageCapacity / 2 > buffer.readableBytes else { return buffer }
        return ByteBuffer(bytes: buffer.readableBytesView)
    }
}
