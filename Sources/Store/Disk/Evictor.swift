/// Evicts the least recently used entries when the store exceeds its budget, and removes expired ones.
///
/// Belongs to the writer's thread.
final class Evictor {
    /// The share of the budget down to which entries are evicted, so that evictions are few and large.
    private static let lowWaterMark = 0.9
    /// The number of entries that are evicted in one slice.
    private static let batch = 256

    private let directory: CacheDirectory
    private let remover: EntryRemover
    private var configuration: DiskStore.Configuration { directory.environment.configuration }
    private var state: DiskState { directory.state }
    /// Whether the store has exceeded its budget and is still above the low-water mark.
    private(set) var isEvicting = false

    init(_ directory: CacheDirectory, _ remover: EntryRemover) {
        self.directory = directory
        self.remover = remover
    }

    /// The size up to which entries are evicted, in bytes. A larger file is never stored.
    static func lowWaterBytes(_ configuration: DiskStore.Configuration) -> Int {
        Int(lowWaterMark * Double(configuration.budgetBytes))
    }

    private var excessBytes: Int { state.totals.bytes - Self.lowWaterBytes(configuration) }
    private var isOverBudget: Bool { state.totals.bytes > configuration.budgetBytes }

    /// Starts evicting if the store is over its budget, without waiting for a write.
    func check() {
        if isOverBudget { isEvicting = true }
    }

    /// Adopts the totals of a new opening.
    func begin() { isEvicting = isOverBudget }

    /// Brings the store down to its budget; maintenance goes on to the low-water mark.
    func makeRoom() {
        check()
        while isOverBudget, evictBatch() {}
    }

    /// Evicts some entries.
    func runSlice() { isEvicting = excessBytes > 0 && evictBatch() }

    /// Completes an eviction that has begun.
    func finish() {
        while isEvicting { runSlice() }
    }

    /// Removes some of the entries that have reached their maximum age.
    /// - Returns: what was removed; nothing if none is left.
    func removeSomeExpired() -> StoreTotals {
        guard let maxAge = configuration.maxAge?.microseconds else { return StoreTotals() }
        writeLastUses()
        let removed = directory.attempt { open throws(StorageError) in
            try open.index.prepareExpiry(configuration.expiry)
            let limit = open.index.clock.microseconds - maxAge
            let expired = try open.index.oldest(configuration.expiry, before: limit, limit: Self.batch)
            return try remover.discard(expired.map(\.key), in: open)
        }
        state.count { $0.expirations += removed?.entries ?? 0 }
        return removed ?? StoreTotals()
    }

    /// Writes the last uses that only memory has to the index.
    func writeLastUses() {
        let uses = state.takeLastUses()
        if uses.isEmpty { return }
        _ = directory.attempt { open throws(StorageError) in try open.index.setLastUses(uses) }
    }

    /// Evicts the least recently used entries, down to the low-water mark at most.
    /// - Returns: whether there were any.
    private func evictBatch() -> Bool {
        writeLastUses()
        let evicted = directory.attempt { open throws(StorageError) in
            var excess = excessBytes
            let entries = try open.index.oldest(.access, limit: Self.batch).prefix { entry in
                defer { excess -= entry.bytes }
                return excess > 0
            }
            try remover.discard(entries.map(\.key), in: open)
            return entries.count
        }
        state.count { $0.evictions += evicted ?? 0 }
        return evicted ?? 0 > 0
    }
}
