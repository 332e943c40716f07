/// The contents of a memory store, and its counts since it was created.
public struct MemoryStatistics: Equatable, Sendable {
    /// The number of entries.
    public var entries = 0
    /// The cost of all entries, in bytes.
    public var bytes = 0
    /// Lookups that found their entry.
    public var hits = 0
    /// Lookups that found nothing.
    public var misses = 0
    /// Entries evicted to free space for others.
    public var evictions = 0
    /// Times that entries were evicted because memory was short. These entries don't count as ``evictions``.
    public var shrinks = 0
}

/// The contents of a disk store, and its counts since it was opened.
public struct DiskStatistics: Equatable, Sendable {
    /// The number of entries.
    public var entries = 0
    /// The size of their files, in bytes.
    public var bytes = 0
    /// Lookups that found their entry.
    public var hits = 0
    /// Lookups that found nothing, including lookups of corrupt and expired entries.
    public var misses = 0
    /// Entries evicted to stay within the budget.
    public var evictions = 0
    /// Entries removed because they had reached their maximum age.
    public var expirations = 0
    /// Entries that a lookup found corrupt, and removed.
    public var corrupt = 0
    /// Entries that were not written: refused at once, or the write failed.
    public var droppedWrites = 0
    /// The number of entries that are queued or being written.
    public var queuedWrites = 0
    /// The size of the files of these entries, in bytes.
    public var queuedBytes = 0
}
