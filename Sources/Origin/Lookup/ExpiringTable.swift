/// Values that each end at a moment of their own. A full table also removes values that would have ended next, so that
/// clients that choose the keys cannot make it grow.
struct ExpiringTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private var entries: [Key: (value: Value, end: ContinuousClock.Instant)] = [:]
    private let capacity: Int

    /// - Parameter capacity: the greatest number of values, at least 1.
    init(capacity: Int) {
        self.capacity = max(1, capacity)
    }

    /// The number of values, which may include some that have ended.
    var count: Int { entries.count }

    /// The value of a key, or nil if it has none or the value has ended.
    func value(of key: Key, at now: ContinuousClock.Instant) -> Value? {
        entries[key].flatMap { $0.end > now ? $0.value : nil }
    }

    mutating func set(_ value: Value, for key: Key, until end: ContinuousClock.Instant, at now: ContinuousClock.Instant)
    {
        if entries.count >= capacity, entries[key] == nil { makeRoom(at: now) }
        entries[key] = (value, end)
    }

    mutating func remove(_ key: Key) {
        entries[key] = nil
    }

    /// Removes all values that have ended, and an eighth of the capacity if that is not enough: a flood of keys thus
    /// does not sort at each of them.
    private mutating func makeRoom(at now: ContinuousClock.Instant) {
        entries = entries.filter { $0.value.end > now }
        guard entries.count >= capacity else { return }
        let removalOrder = entries.sorted { $0.value.end < $1.value.end }
        for (key, _) in removalOrder.prefix(entries.count - capacity + max(1, capacity / 8)) { entries[key] = nil }
    }
}
