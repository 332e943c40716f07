/// What a disk store holds and what it has done since it was opened.
public struct DiskStatistics: Equatable, Sendable {
    /// Entries held.
    public var entries = 0
    /// The size of their files, in bytes.
    public var bytes = 0
    /// Look-ups that found their entry.
    public var hits = 0
    /// Look-ups that did not, damaged and expired entries included.
    public var misses = 0
    /// Entries removed to stay within the budget.
    public var evictions = 0
    /// Entries removed because they were past their age.
    public var expirations = 0
    /// Entries found damaged when they were asked for, and removed.
    public var damaged = 0
    /// Entries that were not written: refused at once, or the write failed.
    public var droppedWrites = 0
    /// Entries that wait to be written now.
    public var queuedWrites = 0
    /// The size of the files that they will be, in bytes.
    public var queuedBytes = 0
}

extension StoreTotals {
    static func += (totals: inout StoreTotals, change: StoreTotals) {
        totals.entries += change.entries
        totals.bytes += change.bytes
    }

    static prefix func - (totals: StoreTotals) -> StoreTotals {
        StoreTotals(entries: -totals.entries, bytes: -totals.bytes)
    }
}
