/// A binary heap whose elements have keys, so that any of them can be removed or get another rank in logarithmic time.
struct IndexedHeap<Key: Hashable, Rank: Comparable> {
    typealias Element = (key: Key, rank: Rank)

    private var elements: [Element] = []
    private var places: [Key: Int] = [:]

    var isEmpty: Bool { elements.isEmpty }

    /// The element of the lowest rank.
    var first: Element? { elements.first }

    /// Inserts an element, or changes its rank.
    mutating func set(_ key: Key, to rank: Rank) {
        if let place = places[key] {
            elements[place].rank = rank
            if !rise(from: place) { sink(from: place) }
        } else {
            places[key] = elements.count
            elements.append((key, rank))
            rise(from: elements.count - 1)
        }
    }

    mutating func remove(_ key: Key) {
        guard let place = places.removeValue(forKey: key) else { return }
        let last = elements.removeLast()
        guard place < elements.count else { return }
        elements[place] = last
        places[last.key] = place
        if !rise(from: place) { sink(from: place) }
    }

    /// - Returns: whether the element moved.
    @discardableResult
    private mutating func rise(from start: Int) -> Bool {
        var place = start
        while place > 0, elements[place].rank < elements[(place - 1) / 2].rank {
            swap(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
        return place != start
    }

    private mutating func sink(from start: Int) {
        var place = start
        while true {
            var lowest = place
            for child in [2 * place + 1, 2 * place + 2] where child < elements.count {
                if elements[child].rank < elements[lowest].rank { lowest = child }
            }
            if lowest == place { return }
            swap(place, lowest)
            place = lowest
        }
    }

    private mutating func swap(_ left: Int, _ right: Int) {
        elements.swapAt(left, right)
        places[elements[left].key] = left
        places[elements[right].key] = right
    }
}
