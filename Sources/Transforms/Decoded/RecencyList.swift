/// A list in the order of last use. Each operation is O(1); nodes are linked by their index in one array.
struct RecencyList<Element> {
    /// Where an element stands; valid until it is removed.
    typealias Slot = Int

    private struct Node {
        var element: Element?
        var newer: Slot?
        var older: Slot?
    }

    private var nodes: [Node] = []
    private var free: [Slot] = []
    private var newest: Slot?
    private var oldest: Slot?

    /// How many elements are in the list.
    var count: Int { nodes.count - free.count }

    /// The element in this slot, or nil if the slot is free.
    func element(at slot: Slot) -> Element? { nodes[slot].element }

    /// Puts an element in as the newest.
    mutating func insert(_ element: Element) -> Slot {
        let slot = free.popLast() ?? nodes.endIndex
        if slot == nodes.endIndex { nodes.append(Node()) }
        nodes[slot].element = element
        link(slot)
        return slot
    }

    /// Makes the element the newest.
    mutating func use(_ slot: Slot) {
        guard slot != newest else { return }
        unlink(slot)
        link(slot)
    }

    /// Takes the element out.
    @discardableResult
    mutating func remove(_ slot: Slot) -> Element? {
        guard let element = nodes[slot].element else { return nil }
        unlink(slot)
        nodes[slot] = Node()
        free.append(slot)
        return element
    }

    /// Takes the least recently used element out; nil if the list is empty.
    mutating func removeOldest() -> Element? {
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
