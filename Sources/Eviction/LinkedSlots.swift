/// A doubly linked list in one array: elements from newest to oldest, each in a slot that stays its own until it is
/// removed.
///
/// Every operation is O(1). Links are indices and free slots are reused, so a long list is one allocation without
/// reference cycles. Without additions, the list is the queue of LRU eviction: ``moveToNewest(_:)`` at each use, and
/// ``removeOldest()`` to evict. ``SieveQueue`` builds on it too.
///
/// Inlinable, as are the queue and the table of SIEVE: each is then compiled for its elements in other modules too.
/// Otherwise the runtime looks up types and their operations at each step, which takes several times as long as the
/// step.
@usableFromInline package struct LinkedSlots<Element> {
    /// The place of an element, valid until the element is removed.
    @usableFromInline package typealias Slot = Int

    @usableFromInline struct Node {
        @usableFromInline var element: Element?
        @usableFromInline var newer: Slot?
        @usableFromInline var older: Slot?

        @inlinable init() {}
    }

    @usableFromInline var nodes: [Node] = []
    @usableFromInline var free: [Slot] = []
    @usableFromInline var ends: (newest: Slot?, oldest: Slot?)

    /// An empty list.
    @inlinable package init() {}

    /// The number of elements.
    @inlinable package var count: Int { nodes.count - free.count }

    /// The slot of the oldest element; nil if the list is empty.
    @inlinable package var oldest: Slot? { ends.oldest }

    /// The element in a slot, or nil if the slot is free. May be set in place while the slot is in use.
    @inlinable package subscript(slot: Slot) -> Element? {
        _read { yield nodes[slot].element }
        _modify { yield &nodes[slot].element }
    }

    /// The slot of the next newer element; nil for the newest.
    @inlinable package func newer(than slot: Slot) -> Slot? { nodes[slot].newer }

    @inlinable package mutating func insert(_ element: Element) -> Slot {
        let slot = free.popLast() ?? nodes.endIndex
        if slot == nodes.endIndex { nodes.append(Node()) }
        nodes[slot].element = element
        link(slot)
        return slot
    }

    /// Makes an element the newest.
    @inlinable package mutating func moveToNewest(_ slot: Slot) {
        guard slot != ends.newest else { return }
        unlink(slot)
        link(slot)
    }

    /// Removes and returns the element in a slot; nil if the slot is free.
    @discardableResult
    @inlinable package mutating func remove(_ slot: Slot) -> Element? {
        guard let element = nodes[slot].element else { return nil }
        unlink(slot)
        nodes[slot] = Node()
        free.append(slot)
        return element
    }

    /// Removes and returns the oldest element; nil if the list is empty.
    @inlinable package mutating func removeOldest() -> Element? {
        ends.oldest.flatMap { remove($0) }
    }

    @inlinable mutating func link(_ slot: Slot) {
        nodes[slot].older = ends.newest
        nodes[slot].newer = nil
        if let newest = ends.newest { nodes[newest].newer = slot } else { ends.oldest = slot }
        ends.newest = slot
    }

    @inlinable mutating func unlink(_ slot: Slot) {
        let node = nodes[slot]
        if let newer = node.newer { nodes[newer].older = node.older } else { ends.newest = node.older }
        if let older = node.older { nodes[older].newer = node.newer } else { ends.oldest = node.newer }
    }
}

extension LinkedSlots: Sendable where Element: Sendable {}
extension LinkedSlots.Node: Sendable where Element: Sendable {}
