import DarkroomStore
import DarkroomTransforms
import DarkroomWeb

/// The server's caches, to be asked what they hold.
struct Caches: Sendable {
    let memory: MemoryStore
    let disk: DiskStore?
    /// 0 = it keeps nothing.
    let diskBudgetBytes: Int
    let decodedBudgetBytes: Int
    /// Decoded pictures, wherever they are kept.
    let decoded: @Sendable () -> DecodedStatistics

    /// What the two in memory hold.
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
