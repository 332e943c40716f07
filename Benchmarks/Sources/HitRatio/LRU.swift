/// The plain cache to compare with: a number of objects, the one not asked for the longest goes first.
struct LRU {
    private struct Node {
        var object: Int
        var newer: Int
        var older: Int
    }

    private let capacity: Int
    private var slots: [Int: Int] = [:]
    /// A ring; node 0 holds no object and stands between the newest and the oldest.
    private var nodes = [Node(object: 0, newer: 0, older: 0)]

    init(capacity: Int) {
        self.capacity = capacity
    }

    /// Asks for an object, and takes it in if it isn't there.
    mutating func isHit(_ object: Int) -> Bool {
        if let slot = slots[object] {
            unlink(slot)
            linkAsNewest(slot)
            return true
        }
        var slot = nodes.count
        if slots.count < capacity {
            nodes.append(Node(object: object, newer: 0, older: 0))
        } else {
            slot = nodes[0].newer
            unlink(slot)
            slots[nodes[slot].object] = nil
            nodes[slot].object = object
        }
        linkAsNewest(slot)
        slots[object] = slot
        return false
    }

    private mutating func unlink(_ slot: Int) {
        let node = nodes[slot]
        nodes[node.newer].older = node.older
        nodes[node.older].newer = node.newer
    }

    private mutating func linkAsNewest(_ slot: Int) {
        let newest = nodes[0].older
        nodes[slot] = Node(object: nodes[slot].object, newer: 0, older: newest)
        nodes[newest].newer = slot
        nodes[0].older = slot
    }
}
