/// A table of values within a byte budget, with SIEVE eviction: values without a hit since the hand last passed them go
/// first.
///
/// The owner states the cost of each value. A table is a value type for use under the owner's lock. Methods return the
/// values that leave the table, so that the owner can free them after it has released the lock.
@usableFromInline package struct SieveTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    @usableFromInline struct Element: Sendable {
        @usableFromInline let key: Key
        @usableFromInline let value: Value
        @usableFromInline let cost: Int

        @inlinable init(key: Key, value: Value, cost: Int) {
            (self.key, self.value, self.cost) = (key, value, cost)
        }
    }

    /// The most that all values may cost, in bytes. A table with a budget of 0 stays empty.
    @usableFromInline package let budgetBytes: Int
    @usableFromInline var heldBytes = 0
    @usableFromInline var slots: [Key: SieveQueue<Element>.Slot] = [:]
    @usableFromInline var queue = SieveQueue<Element>()

    /// An empty table of at most `budgetBytes`; a negative budget counts as 0.
    @inlinable package init(budgetBytes: Int) {
        self.budgetBytes = max(0, budgetBytes)
    }

    /// The cost of all values, in bytes; never more than ``budgetBytes``.
    @inlinable package var bytes: Int { heldBytes }

    /// The number of values.
    @inlinable package var count: Int { slots.count }

    /// The value for this key. A hit protects the value from the next eviction.
    @inlinable package mutating func value(for key: Key) -> Value? {
        guard let slot = slots[key], let element = queue.element(at: slot) else { return nil }
        queue.visit(slot)
        return element.value
    }

    /// The value for this key, without counting as a hit.
    @inlinable package func peek(_ key: Key) -> Value? {
        slots[key].flatMap { queue.element(at: $0) }?.value
    }

    /// The number of hits of the value for this key since it was inserted; 0 without a value.
    @inlinable package func hits(_ key: Key) -> Int { slots[key].map { queue.visits(of: $0) } ?? 0 }

    /// Inserts or replaces the value for this key, and evicts others if the table would exceed its budget. A value that
    /// costs more than the whole budget is not inserted, but still removes the value that it would have replaced.
    ///
    /// A cost below 1 counts as 1, so that a table of values without a cost is bounded too.
    /// - Returns: the values that left the table: the replaced value, if any, and then the evicted values in their
    ///   order.
    @inlinable package mutating func insert(_ value: Value, cost: Int, for key: Key) -> [Value] {
        let cost = max(1, cost)
        var freed = remove(for: key).map { [$0] } ?? []
        guard cost <= budgetBytes else { return freed }
        freed += shrink(toBytes: budgetBytes - cost)
        slots[key] = queue.insert(Element(key: key, value: value, cost: cost))
        heldBytes += cost
        return freed
    }

    @inlinable package mutating func remove(for key: Key) -> Value? {
        guard let slot = slots.removeValue(forKey: key), let element = queue.remove(slot) else { return nil }
        heldBytes -= element.cost
        return element.value
    }

    /// The keys of the values that satisfy the predicate, in no particular order. O(n).
    @inlinable package func keys(where isIncluded: (Key, Value) throws -> Bool) rethrows -> [Key] {
        try slots.compactMap { (key, slot) in
            try queue.element(at: slot).flatMap { try isIncluded(key, $0.value) ? key : nil }
        }
    }

    /// Removes and returns the values that satisfy the predicate. O(n).
    @inlinable package mutating func removeAll(where shouldRemove: (Key, Value) throws -> Bool) rethrows -> [Value] {
        try keys(where: shouldRemove).compactMap { remove(for: $0) }
    }

    /// Removes all values in constant time, and returns the table as it was.
    @discardableResult
    @inlinable package mutating func removeAll() -> SieveTable {
        let before = self
        self = SieveTable(budgetBytes: budgetBytes)
        return before
    }

    /// Evicts and returns values until the remaining values cost at most `targetBytes`.
    @inlinable package mutating func shrink(toBytes targetBytes: Int) -> [Value] {
        var freed: [Value] = []
        while heldBytes > max(0, targetBytes), let evicted = queue.evict() {
            slots[evicted.key] = nil
            heldBytes -= evicted.cost
            freed.append(evicted.value)
        }
        return freed
    }
}

/// Remembers which keys came lately, so that a full table is not changed for keys that come once: most of them never
/// come again, and each would cost the table another value.
///
/// Each key has one place, where the next key of the same place replaces it. A key is therefore remembered until about
/// as many others have come as there are places, and one in 32,768 is taken for another.
@usableFromInline package struct Doorkeeper: Sendable {
    @usableFromInline var tags: [UInt16]

    /// - Parameter places: about how many keys are remembered, at least 1; two bytes each.
    @inlinable package init(places: Int) { tags = Array(repeating: 0, count: max(1, places)) }

    /// Whether a key came lately; remembers it in any case.
    ///
    /// - Parameter hash: of the key, all bits of which vary.
    @inlinable package mutating func knows(_ hash: UInt64) -> Bool {
        let place = Int(hash % UInt64(tags.count))
        // Never 0, which stands for no key.
        let tag = UInt16(truncatingIfNeeded: hash >> 48) | 1
        defer { tags[place] = tag }
        return tags[place] == tag
    }
}
