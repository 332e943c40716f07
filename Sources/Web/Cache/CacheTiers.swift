/// The contents of each cache now, and its activity since the server started.
package struct CacheTiers: Codable, Hashable, Sendable {
    /// Variants and small originals in memory.
    package var memory: CacheTier
    /// Variants and originals on disk; nil when the server has no disk cache.
    package var disk: CacheTier?
    /// Decoded pixels of frequently used originals.
    package var decoded: CacheTier

    package init(memory: CacheTier, disk: CacheTier?, decoded: CacheTier) {
        self.memory = memory
        self.disk = disk
        self.decoded = decoded
    }

    package var named: [(name: String, tier: CacheTier)] {
        [("memory", memory)] + (disk.map { [("disk", $0)] } ?? []) + [("decoded", decoded)]
    }
}

/// The state of one cache. A value that the cache does not track is nil.
package struct CacheTier: Codable, Hashable, Sendable {
    package var entries: Int
    package var bytes: Int
    package var budgetBytes: Int
    /// Lookups that found an entry.
    package var hits: Int
    /// Lookups that found no entry.
    package var misses: Int
    /// Entries evicted to stay within the budget.
    package var evictions: Int?
    /// Entries found corrupt and removed.
    package var damaged: Int?
    /// Entries not written because the write queue was full or the write failed.
    package var droppedWrites: Int?
    /// Entries waiting to be written.
    package var queuedWrites: Int?
    /// The bytes waiting to be written.
    package var queuedBytes: Int?

    package init(entries: Int, bytes: Int, budgetBytes: Int, hits: Int, misses: Int) {
        self.entries = entries
        self.bytes = bytes
        self.budgetBytes = budgetBytes
        self.hits = hits
        self.misses = misses
    }
}
