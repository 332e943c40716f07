import DarkroomTestRandom
import Testing

@testable import DarkroomEviction

@Suite struct SieveQueueTests {
    /// An operation on a queue of letters.
    enum Step: Sendable {
        case insert(String)
        case visit(String)
        case remove(String)
        /// Evicts, and expects this letter to go.
        case evict(String?)
    }

    static let cases: [(title: String, steps: [Step])] = [
        ("an empty queue evicts nothing", [.evict(nil)]),
        (
            "without visits it is a FIFO",
            [.insert("a"), .insert("b"), .insert("c"), .evict("a"), .evict("b"), .evict("c"), .evict(nil)]
        ),
        (
            "a visited element stays, and loses its bit",
            [.insert("a"), .insert("b"), .visit("a"), .evict("b"), .evict("a")]
        ),
        (
            "when all are visited the hand comes round to the oldest",
            [.insert("a"), .insert("b"), .visit("a"), .visit("b"), .evict("a"), .evict("b")]
        ),
        (
            "the hand stays where it was, it doesn't go back to the tail",
            [
                .insert("a"), .insert("b"), .insert("c"), .insert("d"), .visit("a"), .evict("b"), .insert("e"),
                .evict("c"), .evict("d"), .evict("e"), .evict("a"),
            ]
        ),
        (
            "a visit doesn't move an element",
            [.insert("a"), .insert("b"), .insert("c"), .visit("a"), .evict("b"), .visit("c"), .evict("a"), .evict("c")]
        ),
        (
            "visits count alike behind the hand and before it",
            [
                .insert("a"), .insert("b"), .insert("c"), .insert("d"), .insert("e"), .insert("f"), .insert("g"),
                .visit("a"), .visit("b"), .visit("g"), .evict("c"), .insert("h"), .visit("a"), .visit("d"),
                .evict("e"), .insert("i"), .visit("b"), .evict("f"),
            ]
        ),
        (
            "removing the element under the hand moves the hand on",
            [
                .insert("a"), .insert("b"), .insert("c"), .insert("d"), .visit("a"), .evict("b"), .remove("c"),
                .evict("d"), .evict("a"),
            ]
        ),
        (
            "removing both ends leaves the middle",
            [.insert("a"), .insert("b"), .insert("c"), .remove("a"), .remove("c"), .evict("b"), .evict(nil)]
        ),
    ]

    @Test(arguments: cases)
    func `A queue evicts in the order of SIEVE`(title: String, steps: [Step]) {
        var queue = SieveQueue<String>()
        var slots: [String: Int] = [:]
        for step in steps {
            switch step {
            case .insert(let letter): slots[letter] = queue.insert(letter)
            case .visit(let letter): queue.visit(slots[letter]!)
            case .remove(let letter): #expect(queue.remove(slots[letter]!) == letter)
            case .evict(let expected): #expect(queue.evict() == expected, "\(title)")
            }
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `A queue behaves like a plain model of the algorithm`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = SieveQueue<Int>()
        var model = SieveModel()
        var slots: [Int: Int] = [:]
        for next in 0..<2000 {
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<4:
                slots[next] = queue.insert(next)
                model.insert(next)
            case 4..<7:
                guard let (element, slot) = slots.randomElement(using: &random) else { continue }
                queue.visit(slot)
                model.visit(element)
            case 7:
                guard let (element, slot) = slots.randomElement(using: &random) else { continue }
                slots[element] = nil
                #expect(queue.remove(slot) == element)
                model.remove(element)
            default:
                let evicted = queue.evict()
                #expect(evicted == model.evict())
                if let evicted { slots[evicted] = nil }
            }
            #expect(queue.count == model.elements.count)
        }
    }
}

/// SIEVE in the plainest way: an array from oldest to newest, and an index for a hand.
private struct SieveModel {
    var elements: [(value: Int, isVisited: Bool)] = []
    var hand = 0

    mutating func insert(_ value: Int) {
        // At the end, the hand had passed the newest: it goes on from the oldest, not from this one.
        if hand == elements.count { hand = 0 }
        elements.append((value, false))
    }

    mutating func visit(_ value: Int) {
        for index in elements.indices where elements[index].value == value { elements[index].isVisited = true }
    }

    mutating func remove(_ value: Int) {
        guard let index = elements.firstIndex(where: { $0.value == value }) else { return }
        elements.remove(at: index)
        if index < hand { hand -= 1 }
    }

    mutating func evict() -> Int? {
        if elements.isEmpty { return nil }
        while true {
            if hand >= elements.count { hand = 0 }
            if !elements[hand].isVisited { return elements.remove(at: hand).value }
            elements[hand].isVisited = false
            hand += 1
        }
    }
}
