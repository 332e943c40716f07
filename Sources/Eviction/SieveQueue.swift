/// The queue of SIEVE eviction: elements in the order of their insertion, a visited bit for each, and a hand that walks
/// from the oldest to the newest and evicts the first element without a visit since it last came by.
///
/// Zhang et al., "SIEVE is Simpler than LRU", NSDI '24, algorithm 1. Each operation is O(1), `evict()` amortized: an
/// element that the hand passes loses its bit, and only a visit sets it again.
@usableFromInline struct SieveQueue<Element> {
    @usableFromInline typealias Slot = LinkedSlots<Entry>.Slot

    @usableFromInline struct Entry {
        @usableFromInline let element: Element
        @usableFromInline var isVisited = false
        @usableFromInline var visits: UInt32 = 0

        @inlinable init(_ element: Element) { self.element = element }
    }

    @usableFromInline var entries = LinkedSlots<Entry>()
    @usableFromInline var hand: Slot?

    @inlinable init() {}

    /// The number of elements.
    @inlinable var count: Int { entries.count }

    @inlinable func element(at slot: Slot) -> Element? { entries[slot]?.element }

    /// Inserts an element as the newest, not visited.
    @inlinable mutating func insert(_ element: Element) -> Slot { entries.insert(Entry(element)) }

    /// Sets the element's visited bit; the element keeps its place.
    @inlinable mutating func visit(_ slot: Slot) {
        entries[slot]?.isVisited = true
        entries[slot]?.visits &+= 1
    }

    /// The number of visits since the element was inserted; 0 if the slot is free.
    @inlinable func visits(of slot: Slot) -> Int { Int(entries[slot]?.visits ?? 0) }

    @discardableResult
    @inlinable mutating func remove(_ slot: Slot) -> Element? {
        if hand == slot { hand = entries.newer(than: slot) }
        return entries.remove(slot)?.element
    }

    /// Removes and returns the first element without a visited bit, from the hand to the newest and on from the oldest,
    /// and clears the bits on the way. Nil if the queue is empty.
    @inlinable mutating func evict() -> Element? {
        hand = hand ?? entries.oldest
        while let candidate = hand, entries[candidate]?.isVisited == true {
            entries[candidate]?.isVisited = false
            hand = entries.newer(than: candidate) ?? entries.oldest
        }
        // Removing the element under the hand moves the hand on.
        return hand.flatMap { remove($0) }
    }
}

extension SieveQueue: Sendable where Element: Sendable {}
extension SieveQueue.Entry: Sendable where Element: Sendable {}
