import DarkroomStore
import DarkroomTransforms
import DarkroomWeb

/// The caches of the server, for statistics.
struct Caches: Sendable {
    let memory: MemoryStore
    let disk: DiskStore?
    /// Nil = not shared with other servers.
    let shared: SharedStore?
    /// 0 = disabled.
    let diskBudgetBytes: Int
    let decodedBudgetBytes: Int
    /// Statistics of decoded originals, in this process or in the workers.
    let decoded: @Sendable () -> DecodedStatistics

    /// Bytes of the memory cache and of decoded originals.
    var bytesInMemory: Int { memory.statistics.bytes + decoded().bytes }

    var tiers: CacheTiers {
        CacheTiers(
            memory: CacheTier(memory.statistics, budgetBytes: memory.budgetBytes),
            disk: diskBudgetBytes > 0 ? disk.map { CacheTier($0.statistics, budgetBytes: diskBudgetBytes) } : nil,
            decoded: CacheTier(decoded(), budgetBytes: decodedBudgetBytes))
    }
}

extension CacheTier {
    fileprivate init(_ statistics: MemoryStatistics, budgetBytes: Int) {
        self.init(
            entries: statistics.entries, bytes: statistics.bytes, budgetBytes: budgetBytes, hits: statistics.hits,
            misses: statistics.misses)
        evictions = statistics.evictions
    }

    fileprivate init(_ statistics: DiskStatistics, budgetBytes: Int) {
        self.init(
            entries: statistics.entries, bytes: statistics.bytes, budgetBytes: budgetBytes, hits: statistics.hits,
            misses: statistics.misses)
        evictions = statistics.evictions
        damaged = statistics.corrupt
        droppedWrites = statistics.droppedWrites
        queuedWrites = statistics.queuedWrites
        queuedBytes = statistics.queuedBytes
    }

    fileprivate init(_ statistics: DecodedStatistics, budgetBytes: Int) {
        self.init(
            entries: statistics.entries, bytes: statistics.bytes, budgetBytes: budgetBytes, hits: statistics.hits,
            misses: statistics.misses)
    }
}
