/// What each cache holds at one moment, and what it has done since the server was started.
package struct CacheTiers: Codable, Hashable, Sendable {
    /// Variants and small originals in memory.
    package var memory: CacheTier
    /// Both on disk; nil = the server has no disk cache.
    package var disk: CacheTier?
    /// Decoded pictures of originals in demand.
    package var decoded: CacheTier

    package init(memory: CacheTier, disk: CacheTier?, decoded: CacheTier) {
        self.memory = memory
        self.disk = disk
        self.decoded = decoded
    }

    /// Those that there are, by name.
    package var named: [(name: String, tier: CacheTier)] {
        [("memory", memory)] + (disk.map { [("disk", $0)] } ?? []) + [("decoded", decoded)]
    }
}

/// One cache. What it does not count is nil.
package struct CacheTier: Codable, Hashable, Sendable {
    package var entries: Int
    package var bytes: Int
    /// The bytes that it may hold.
    package var budgetBytes: Int
    /// Look-ups that found their entry.
    package var hits: Int
    /// Look-ups that did not.
    package var misses: Int
    /// Entries that made room for others.
    package var evictions: Int?
    /// Entries that were found damaged, and removed.
    package var damaged: Int?
    /// Entries that were not written.
    package var droppedWrites: Int?
    /// Entries that wait to be written now.
    package var queuedWrites: Int?
    /// The bytes of those.
    package var queuedBytes: Int?

    package init(entries: Int, bytes: Int, budgetBytes: Int, hits: Int, misses: Int) {
        self.entries = entries
        self.bytes = bytes
        self.budgetBytes = budgetBytes
        self.hits = hits
        self.misses = misses
    }

    private enum CodingKeys: String, CodingKey {
        case entries, bytes, hits, misses, evictions, damaged
        case budgetBytes = "budget_bytes"
        case droppedWrites = "dropped_writes"
        case queuedWrites = "queued_writes"
        case queuedBytes = "queued_bytes"
    }
}
