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
    /// Times that memory was short and entries went for it; these entries are no ``evictions``.
    public var shrinks = 0
}
