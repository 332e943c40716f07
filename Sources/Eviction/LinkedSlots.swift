/// A doubly linked list in one array: elements from newest to oldest, each in a slot that stays its own until it is
/// removed.
///
/// Every operation is O(1). Links are indices and free slots are reused, so a long list is one allocation without
/// reference cycles. Without additions, the list is the queue of LRU eviction: ``moveToNewest(_:)`` at each use, and
/// ``removeOldest()`` to evict. ``SieveQueue`` builds on it too.
@usableFromInline package struct LinkedSlots<Element> {
    /// The place of an element, valid until the element is removed.
    @usableFromInline package typealias Slot = Int

    @usableFromInline struct Node {
        @usableFromInline var element: Element?
        var newer: Slot?
        var older: Slot?
    }

    @usableFromInline var nodes: [Node] = []
    private var free: [Slot] = []
    /// The slot of the newest element; nil if the list is empty.
    package private(set) var newest: Slot?
    /// The slot of the oldest element; nil if the list is empty.
    package private(set) var oldest: Slot?

    /// An empty list.
    package init() {}

    /// The number of elements.
    package var count: Int { nodes.count - free.count }

    /// The element in a slot, or nil if the slot is free. May be set in place while the slot is in use.
    @inlinable package subscript(slot: Slot) -> Element? {
        _read { yield nodes[slot].element }
        _modify { yield &nodes[slot].element }
    }

    /// The slot of the next newer element; nil for the newest.
    package func newer(than slot: Slot) -> Slot? { nodes[slot].newer }

    /// Inserts an element as the newest.
    package mutating func insert(_ element: Element) -> Slot {
        let slot = free.popLast() ?? nodes.endIndex
        if slot == nodes.endIndex { nodes.append(Node()) }
        nodes[slot].element = element
        link(slot)
        return slot
    }

    /// Makes an element the newest.
    package mutating func moveToNewest(_ slot: Slot) {
        guard slot != newest else { return }
        unlink(slot)
        link(slot)
    }

    /// Removes and returns the element in a slot; nil if the slot is free.
    @discardableResult
    package mutating func remove(_ slot: Slot) -> Element? {
        guard let element = nodes[slot].element else { return nil }
        unlink(slot)
        nodes[slot] = Node()
        free.append(slot)
        return element
    }

    /// Removes and returns the oldest element; nil if the list is empty.
    package mutating func removeOldest() -> Element? {
        oldest.flatMap { remove($0) }
    }

    private mutating func link(_ slot: Slot) {
        nodes[slot].older = newest
        nodes[slot].newer = nil
        if let newest { nodes[newest].newer = slot } else { oldest = slot }
        newest = slot
    }

    private mutating func unlink(_ slot: Slot) {
        let node = nodes[slot]
        if let newer = node.newer { nodes[newer].older = node.older } else { newest = node.older }
        if let older = node.older { nodes[older].newer = node.newer } else { oldest = node.newer }
    }
}

extension LinkedSlots: Sendable where Element: Sendable {}
extension LinkedSlots.Node: Sendable where Element: Sendable {}
