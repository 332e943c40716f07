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
        let (inMemory, onDisk, decoded) = (memory.statistics, disk?.statistics, decoded())
        var memoryTier = CacheTier(
            entries: inMemory.entries, bytes: inMemory.bytes, budgetBytes: memory.budgetBytes, hits: inMemory.hits,
            misses: inMemory.misses)
        memoryTier.evictions = inMemory.evictions
        let diskTier = onDisk.map { onDisk in
            var tier = CacheTier(
                entries: onDisk.entries, bytes: onDisk.bytes + onDisk.indexBytes, budgetBytes: diskBudgetBytes,
                hits: onDisk.hits, misses: onDisk.misses)
            tier.evictions = onDisk.evictions
            tier.damaged = onDisk.corrupt
            tier.droppedWrites = onDisk.droppedWrites
            tier.queuedWrites = onDisk.queuedWrites
            tier.queuedBytes = onDisk.queuedBytes
            return tier
        }
        return CacheTiers(
            memory: memoryTier, disk: diskBudgetBytes > 0 ? diskTier : nil,
            decoded: CacheTier(
                entries: decoded.entries, bytes: decoded.bytes, budgetBytes: decodedBudgetBytes, hits: decoded.hits,
                misses: decoded.misses))
    }
}
