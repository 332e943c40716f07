/// Values by key within one budget of bytes, evicted by SIEVE: what nobody asked for since the hand last came by goes
/// first.
///
/// A value costs as many bytes as its owner says. A table is a value itself and stands behind its owner's lock, so
/// whatever leaves it is returned: let it go after the lock, where freeing it keeps nobody waiting.
public struct SieveTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private struct Element: Sendable {
        let key: Key
        let value: Value
        let cost: Int
    }

    /// The most that the values may cost together. At 0 nothing is kept.
    public let budgetBytes: Int
    /// What the values cost together; never more than ``budgetBytes``.
    public private(set) var bytes = 0

    private var slots: [Key: SieveQueue<Element>.Slot] = [:]
    private var queue = SieveQueue<Element>()

    /// An empty table of at most `budgetBytes`; a negative budget counts as 0.
    public init(budgetBytes: Int) {
        self.budgetBytes = max(0, budgetBytes)
    }

    /// How many values the table holds.
    public var count: Int { slots.count }

    /// The value under this key. A hit keeps the value from the next eviction.
    public mutating func value(for key: Key) -> Value? {
        guard let slot = slots[key], let element = queue.element(at: slot) else { return nil }
        queue.visit(slot)
        return element.value
    }

    /// The value under this key, without a sign that anyone asked for it.
    public func peek(_ key: Key) -> Value? {
        slots[key].flatMap { queue.element(at: $0) }?.value
    }

    /// How often the value under this key was found since it came; 0 where there is none.
    public func hits(_ key: Key) -> Int { slots[key].map { queue.visits(of: $0) } ?? 0 }

    /// Keeps the value under this key in place of one that is there, and evicts others if that takes the table over its
    /// budget. A value that costs more than the whole budget is not kept, nor is what was there before.
    ///
    /// A cost under 1 counts as 1, so that a table of values that cost nothing is bounded too.
    /// - Returns: what left the table: the value that was there before, if any, then the evicted ones in their order.
    public mutating func insert(_ value: Value, cost: Int, for key: Key) -> [Value] {
        let cost = max(1, cost)
        var freed = remove(for: key).map { [$0] } ?? []
        guard cost <= budgetBytes else { return freed }
        freed += shrink(toBytes: budgetBytes - cost)
        slots[key] = queue.insert(Element(key: key, value: value, cost: cost))
        bytes += cost
        return freed
    }

    /// Removes and returns the value under this key.
    public mutating func remove(for key: Key) -> Value? {
        guard let slot = slots.removeValue(forKey: key), let element = queue.remove(slot) else { return nil }
        bytes -= element.cost
        return element.value
    }

    /// The keys of the values that the predicate holds for, in no order. Looks at every value: for rare use.
    public func keys(where isWanted: (Key, Value) throws -> Bool) rethrows -> [Key] {
        try slots.compactMap { (key, slot) in
            try queue.element(at: slot).flatMap { try isWanted(key, $0.value) ? key : nil }
        }
    }

    /// Removes and returns the values that the predicate holds for. Looks at every value: for rare use.
    public mutating func removeAll(where shouldRemove: (Key, Value) throws -> Bool) rethrows -> [Value] {
        let keys = try slots.compactMap { (key, slot) in
            try queue.element(at: slot).flatMap { try shouldRemove(key, $0.value) ? key : nil }
        }
        return keys.compactMap { remove(for: $0) }
    }

    /// Removes all values in no time, and returns the table as it was.
    @discardableResult
    public mutating func removeAll() -> SieveTable {
        let before = self
        self = SieveTable(budgetBytes: budgetBytes)
        return before
    }

    /// Evicts values in their order until the rest costs at most `targetBytes`, and returns them.
    public mutating func shrink(toBytes targetBytes: Int) -> [Value] {
        var freed: [Value] = []
        while bytes > max(0, targetBytes), let evicted = queue.evict() {
            slots[evicted.key] = nil
            bytes -= evicted.cost
            freed.append(evicted.value)
        }
        return freed
    }
}
