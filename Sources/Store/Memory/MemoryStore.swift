import NIOCore
import Synchronization

/// Entries in memory within one budget of bytes, evicted by SIEVE.
///
/// An entry costs the readable bytes of its body and metadata plus ``entryOverheadBytes``. A buffer that is a slice of
/// a storage more than twice its size is copied first, so that a small entry never pins a large block; an allocator that
/// rounds up may thus hold up to twice the budget. All methods are safe from any thread and return quickly: the table
/// stands behind one lock, and no bytes are copied or freed under it.
public final class MemoryStore: Sendable {
    /// What an entry costs besides its bytes: its keys, its node and its place in the tables.
    public static let entryOverheadBytes = 512

    /// The budget in bytes. At 0 nothing is kept.
    public let budgetBytes: Int

    private let state = Mutex(State())

    /// A store of at most `budgetBytes`; 0 disables it.
    public init(budgetBytes: Int) {
        self.budgetBytes = max(0, budgetBytes)
    }

    /// What the store holds and what it has done so far.
    public var statistics: MemoryStatistics {
        state.withLock { $0.statistics }
    }

    /// The entry under this key. A hit keeps the entry from the next eviction.
    public func entry(for key: EntryKey) -> StoredEntry? {
        state.withLock { $0.entry(for: key) }
    }

    /// Keeps the entry under this key in place of one that is there, and evicts others if that takes the store over its
    /// budget. An entry that costs more than the whole budget is not kept, nor is what was there before.
    public func store(_ entry: StoredEntry, for key: EntryKey) {
        let held = Held(key: key, entry: entry.compacted)
        let freed = state.withLock { $0.store(held, budgetBytes: budgetBytes) }
        // The freed bodies go here, after the lock.
        _ = consume freed
    }

    /// Removes the entry under this key.
    public func remove(_ key: EntryKey) {
        let freed = state.withLock { $0.remove(key) }
        _ = consume freed
    }

    /// Removes all entries of a source.
    public func removeAll(ofSource source: StoreKey) {
        let freed = state.withLock { $0.removeAll(ofSource: source) }
        _ = consume freed
    }
}

/// What a memory store holds and has done since it was made.
public struct MemoryStatistics: Equatable, Sendable {
    /// Entries held.
    public var entries = 0
    /// What they cost, in bytes.
    public var bytes = 0
    /// Look-ups that found their entry.
    public var hits = 0
    /// Look-ups that did not.
    public var misses = 0
    /// Entries that made room for others.
    public var evictions = 0
}

private struct Held {
    let key: EntryKey
    let entry: StoredEntry

    var costBytes: Int {
        entry.body.readableBytes + entry.metadata.readableBytes + MemoryStore.entryOverheadBytes
    }
}

/// What the lock guards; its methods assume that it is held.
private struct State {
    var statistics = MemoryStatistics()
    /// Slots by source, then by entry, so that a source is removed without a search.
    private var slots: [StoreKey: [StoreKey: SieveQueue<Held>.Slot]] = [:]
    private var queue = SieveQueue<Held>()

    mutating func entry(for key: EntryKey) -> StoredEntry? {
        guard let slot = slots[key.source]?[key.entry], let held = queue.element(at: slot) else {
            statistics.misses += 1
            return nil
        }
        queue.visit(slot)
        statistics.hits += 1
        return held.entry
    }

    /// Returns what had to go.
    mutating func store(_ held: Held, budgetBytes: Int) -> [Held] {
        var freed: [Held] = []
        if let replaced = remove(held.key) { freed.append(replaced) }
        guard held.costBytes <= budgetBytes else { return freed }
        while statistics.bytes + held.costBytes > budgetBytes, let evicted = queue.evict() {
            forget(evicted)
            statistics.evictions += 1
            freed.append(evicted)
        }
        slots[held.key.source, default: [:]][held.key.entry] = queue.insert(held)
        statistics.bytes += held.costBytes
        statistics.entries += 1
        return freed
    }

    mutating func remove(_ key: EntryKey) -> Held? {
        guard let slot = slots[key.source]?[key.entry], let held = queue.remove(slot) else { return nil }
        forget(held)
        return held
    }

    mutating func removeAll(ofSource source: StoreKey) -> [Held] {
        (slots[source] ?? [:]).keys.compactMap { remove(EntryKey(source: source, entry: $0)) }
    }

    /// Drops what left the queue from the table and the sums.
    private mutating func forget(_ held: Held) {
        slots[held.key.source]?[held.key.entry] = nil
        if slots[held.key.source]?.isEmpty == true { slots[held.key.source] = nil }
        statistics.bytes -= held.costBytes
        statistics.entries -= 1
    }
}

extension StoredEntry {
    /// The same entry in buffers that hold little more than their readable bytes.
    fileprivate var compacted: StoredEntry {
        StoredEntry(body: Self.compacted(body), metadata: Self.compacted(metadata))
    }

    private static func compacted(_ buffer: ByteBuffer) -> ByteBuffer {
        guard buffer.storageCapacity / 2 > buffer.readableBytes else { return buffer }
        return ByteBuffer(bytes: buffer.readableBytesView)
    }
}
