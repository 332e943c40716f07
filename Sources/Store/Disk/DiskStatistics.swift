/// What a disk store holds and what it has done since it was opened.
public struct DiskStatistics: Equatable, Sendable {
    /// Entries held.
    public var entries = 0
    /// The size of their files, in bytes.
    public var bytes = 0
    /// Look-ups that found their entry.
    public var hits = 0
    /// Look-ups that did not, damaged entries included.
    public var misses = 0
    /// Entries removed to stay within the budget.
    public var evictions = 0
    /// Entries found damaged when they were asked for, and removed.
    public var damaged = 0
    /// Entries that were not written: the queue or the volume was full, the entry too large, or the write failed.
    public var droppedWrites = 0
    /// Entries that wait to be written now.
    public var queuedWrites = 0
}

/// How much a disk store holds, or by how much that changed.
struct DiskTotals: Equatable, Sendable {
    var entries = 0
    var bytes = 0

    static func += (totals: inout DiskTotals, change: DiskTotals) {
        totals.entries += change.entries
        totals.bytes += change.bytes
    }
}
