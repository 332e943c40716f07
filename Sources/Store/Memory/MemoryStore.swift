import NIOCore
import Synchronization

/// Entries in memory within one budget of bytes, evicted by SIEVE.
///
/// An entry costs the readable bytes of its body and metadata, its labels' bytes and ``entryOverheadBytes``. A buffer that
/// is a slice of a storage more than twice its size is copied first, so that a small entry never pins a large block; an
/// allocator that rounds up may thus hold up to twice the budget. All methods are safe from any thread and return quickly:
/// the table stands behind one lock, and no bytes are copied or freed under it.
public final class MemoryStore: Sendable {
    /// What an entry costs besides its bytes: its keys, its node, its buffers' heads and its place in the tables. Measured
    /// as 260 to 390 where a source has ten entries, 930 where it has one.
    public static let entryOverheadBytes = 768

    /// How much a shrink takes out under one lock, so that look-ups get in between.
    private static let shrinkStepBytes = 1 << 20

    /// The budget in bytes. At 0 nothing is kept.
    public let budgetBytes: Int

    private let state: Mutex<State>
    private let uptime: @Sendable () -> Duration

    /// A store of at most `budgetBytes`; 0 disables it.
    ///
    /// - Parameter uptime: the time since an arbitrary moment, by which entries age; it is never set.
    public init(budgetBytes: Int, uptime: @escaping @Sendable () -> Duration = DiskStore.uptime) {
        self.budgetBytes = max(0, budgetBytes)
        self.uptime = uptime
        state = Mutex(State(budgetBytes: self.budgetBytes))
    }

    /// What the store holds and what it has done so far.
    public var statistics: MemoryStatistics {
        state.withLock { $0.statistics }
    }

    /// How many sources the index by source has: only those with an entry, or it would grow for ever.
    var indexedSourceCount: Int {
        state.withLock { $0.indexedSourceCount }
    }

    /// The entry under this key. A hit keeps the entry from the next eviction.
    public func entry(for key: EntryKey) -> StoredEntry? {
        state.withLock { $0.entry(for: key) }
    }

    /// The entry under this key, without a sign that anyone asked for it.
    public func peek(_ key: EntryKey) -> StoredEntry? {
        state.withLock { $0.peek(key) }
    }

    /// What there is of a source, without a sign that anyone asked for it: the first `count` entries in the order of their
    /// keys.
    public func summaries(ofSource source: StoreKey, limit count: Int) -> [EntrySummary] {
        let now = uptime()
        let held = state.withLock { $0.listed(ofSource: source) }
        return held.map { held, hits in
            EntrySummary(
                key: held.key, bytes: held.costBytes, age: now - held.storedAt, hits: hits,
                metadata: held.entry.metadata)
        }.sorted { $0.key.entry.hex < $1.key.entry.hex }.prefix(count).map(\.self)
    }

    /// Keeps the entry under this key in place of one that is there, and evicts others if that takes the store over its
    /// budget. An entry that costs more than the whole budget is not kept, nor is what was there before.
    public func store(_ entry: StoredEntry, for key: EntryKey) {
        let held = Held(key: key, entry: entry.compacted, storedAt: uptime())
        let freed = state.withLock { $0.store(held) }
        // The freed bodies go here, after the lock; so it is in all that follows.
        _ = consume freed
    }

    /// Removes the entry under this key.
    public func remove(_ key: EntryKey) {
        let freed = state.withLock { $0.remove(key) }
        _ = consume freed
    }

    /// Removes all entries of these sources, and says how many there were and what they cost.
    @discardableResult
    public func removeAll(ofSources sources: some Sequence<StoreKey>) -> StoreTotals {
        var removed = StoreTotals()
        for source in sources {
            removed += StoreTotals(of: state.withLock { $0.removeAll(ofSource: source) })
        }
        return removed
    }

    /// Removes all entries at once, and says how many there were and what they cost.
    @discardableResult
    public func removeEverything() -> StoreTotals {
        let freed = state.withLock { $0.removeEverything() }
        return StoreTotals(entries: freed.statistics.entries, bytes: freed.statistics.bytes)
    }

    /// How many entries the store holds of a source, and what they cost.
    public func totals(ofSource source: StoreKey) -> StoreTotals {
        StoreTotals(of: state.withLock { $0.entries(ofSource: source) })
    }

    /// Evicts entries until the rest costs at most `targetBytes`, those first that nobody asked for; the budget stays as it
    /// is, and the store fills up again. Says how many went and what they cost.
    @discardableResult
    public func shrink(toBytes targetBytes: Int) -> StoreTotals {
        var removed = StoreTotals()
        var step = statistics.bytes
        while step > targetBytes {
            step = max(targetBytes, step - Self.shrinkStepBytes)
            removed += StoreTotals(of: state.withLock { $0.shrink(toBytes: step) })
        }
        if removed.entries > 0 { state.withLock { $0.noteShrink() } }
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
        costBytes =
            entry.body.readableBytes + entry.metadata.readableBytes + entry.labels.reduce(0) { $0 + $1.utf8.count }
            + MemoryStore.entryOverheadBytes
    }
}

extension StoreTotals {
    fileprivate init(of held: [Held]) {
        self.init(entries: held.count, bytes: held.reduce(0) { $0 + $1.costBytes })
    }
}

/// What the lock guards; its methods assume that it is held, and return what has to go.
private struct State: Sendable {
    private var table: SieveTable<EntryKey, Held>
    /// The entries of each source, so that a source is removed without a search.
    private var entriesBySource: [StoreKey: Set<StoreKey>] = [:]
    private var counters = MemoryStatistics()

    init(budgetBytes: Int) {
        table = SieveTable(budgetBytes: budgetBytes)
    }

    var statistics: MemoryStatistics {
        var statistics = counters
        statistics.entries = table.count
        statistics.bytes = table.bytes
        return statistics
    }

    var indexedSourceCount: Int { entriesBySource.count }

    mutating func entry(for key: EntryKey) -> StoredEntry? {
        let held = table.value(for: key)
        if held == nil { counters.misses += 1 } else { counters.hits += 1 }
        return held?.entry
    }

    mutating func store(_ held: Held) -> [Held] {
        let replaced = remove(held.key).map { [$0] } ?? []
        guard held.costBytes <= table.budgetBytes else { return replaced }
        let evicted = table.insert(held, cost: held.costBytes, for: held.key)
        entriesBySource[held.key.source, default: []].insert(held.key.entry)
        forget(evicted)
        counters.evictions += evicted.count
        return replaced + evicted
    }

    mutating func remove(_ key: EntryKey) -> Held? {
        guard let held = table.remove(for: key) else { return nil }
        forget([held])
        return held
    }

    mutating func removeAll(ofSource source: StoreKey) -> [Held] {
        let entries = entriesBySource.removeValue(forKey: source) ?? []
        return entries.compactMap { table.remove(for: EntryKey(source: source, entry: $0)) }
    }

    mutating func removeEverything() -> State {
        let before = self
        table.removeAll()
        entriesBySource = [:]
        return before
    }

    func peek(_ key: EntryKey) -> StoredEntry? { table.peek(key)?.entry }

    func listed(ofSource source: StoreKey) -> [(Held, hits: Int)] {
        entries(ofSource: source).map { ($0, table.hits($0.key)) }
    }

    func entries(ofSource source: StoreKey) -> [Held] {
        (entriesBySource[source] ?? []).compactMap { table.peek(EntryKey(source: source, entry: $0)) }
    }

    mutating func shrink(toBytes targetBytes: Int) -> [Held] {
        let evicted = table.shrink(toBytes: targetBytes)
        forget(evicted)
        return evicted
    }

    mutating func noteShrink() {
        counters.shrinks += 1
    }

    /// Drops what left the table from the index.
    private mutating func forget(_ gone: [Held]) {
        for key in gone.map(\.key) {
            guard let index = entriesBySource.index(forKey: key.source) else { continue }
            entriesBySource.values[index].remove(key.entry)
            if entriesBySource.values[index].isEmpty { entriesBySource.remove(at: index) }
        }
    }
}

extension StoredEntry {
    /// The same entry in buffers that hold little more than their readable bytes.
    fileprivate var compacted: StoredEntry {
        StoredEntry(body: Self.compacted(body), metadata: Self.compacted(metadata), labels: labels)
    }

    private static func compacted(_ buffer: ByteBuffer) -> ByteBuffer {
        guard buffer.storageCapacity / 2 > buffer.readableBytes else { return buffer }
        return ByteBuffer(bytes: buffer.readableBytesView)
    }
}
