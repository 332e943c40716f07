/// The queue of SIEVE eviction: newest at the head, a visited bit for each element, and a hand that walks from tail to
/// head looking for an element that nobody asked for since it last came by.
///
/// Zhang et al., "SIEVE is Simpler than LRU", NSDI '24, algorithm 1. Each operation is O(1), `evict()` amortised: what
/// it walks past loses its bit, which only a visit gives back. Nodes are linked by their index in one array, so a long
/// queue is one allocation and has no reference cycles.
struct SieveQueue<Element> {
    /// Where an element stands; valid until the element is removed or evicted.
    typealias Slot = Int

    fileprivate struct Node {
        var element: Element?
        var newer: Slot?
        var older: Slot?
        var isVisited = false
        var visits: UInt32 = 0
    }

    private var nodes: [Node] = []
    private var free: [Slot] = []
    private var head: Slot?
    private var tail: Slot?
    private var hand: Slot?

    /// How many elements stand in the queue.
    var count: Int { nodes.count - free.count }

    /// The element in this slot, or nil if the slot is free.
    func element(at slot: Slot) -> Element? {
        nodes[slot].element
    }

    /// Puts an element at the head, not visited.
    mutating func insert(_ element: Element) -> Slot {
        let node = Node(element: element, older: head)
        let slot: Slot
        if let reused = free.popLast() {
            slot = reused
            nodes[slot] = node
        } else {
            slot = nodes.count
            nodes.append(node)
        }
        if let head { nodes[head].newer = slot } else { tail = slot }
        head = slot
        return slot
    }

    /// Marks the element as wanted; it keeps its place.
    mutating func visit(_ slot: Slot) {
        nodes[slot].isVisited = true
        nodes[slot].visits &+= 1
    }

    /// How often the element was wanted since it came; 0 if the slot is free.
    func visits(of slot: Slot) -> Int { Int(nodes[slot].visits) }

    /// Takes the element out.
    @discardableResult
    mutating func remove(_ slot: Slot) -> Element? {
        let node = nodes[slot]
        if let newer = node.newer { nodes[newer].older = node.older } else { head = node.older }
        if let older = node.older { nodes[older].newer = node.newer } else { tail = node.newer }
        if hand == slot { hand = node.newer }
        nodes[slot] = Node()
        free.append(slot)
        return node.element
    }

    /// Takes out the first element without a visited bit from the hand towards the head, and on from the tail; clears
    /// the bits on its way. Nil if the queue is empty.
    mutating func evict() -> Element? {
        hand = hand ?? tail
        while let candidate = hand, nodes[candidate].isVisited {
            nodes[candidate].isVisited = false
            hand = nodes[candidate].newer ?? tail
        }
        // Removing the element under the hand moves the hand on.
        return hand.flatMap { remove($0) }
    }
}

extension SieveQueue: Sendable where Element: Sendable {}
extension SieveQueue.Node: Sendable where Element: Sendable {}
