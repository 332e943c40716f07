import DarkroomTestRandom
import Testing

@testable import DarkroomEviction

@Suite struct SieveTableTests {
    /// A table of "a" to "d" at 10 bytes each in a budget of 40.
    private func table() -> SieveTable<String, Int> {
        var table = SieveTable<String, Int>(budgetBytes: 40)
        for (value, key) in ["a", "b", "c", "d"].enumerated() { #expect(table.insert(value, cost: 10, for: key) == []) }
        return table
    }

    @Test func `A value is found for its key until it is removed`() {
        var table = table()
        #expect(table.value(for: "b") == 1)
        #expect(table.peek("b") == 1)
        #expect(table.value(for: "x") == nil)
        #expect(table.remove(for: "b") == 1)
        #expect(table.remove(for: "b") == nil)
        #expect(table.value(for: "b") == nil)
        #expect(table.peek("b") == nil)
        #expect(table.count == 3)
        #expect(table.bytes == 30)
    }

    @Test func `Evicted values are returned in order, and as few as necessary`() {
        var table = table()
        #expect(table.insert(4, cost: 11, for: "e") == [0, 1])
        #expect(table.count == 3)
        #expect(table.bytes == 31)
    }

    @Test func `A value with a hit stays, and one that was only peeked at goes`() {
        var table = table()
        _ = table.value(for: "a")
        _ = table.peek("b")
        #expect(table.insert(4, cost: 10, for: "e") == [1])
    }

    @Test func `A value replaces the previous one and its cost`() {
        var table = table()
        #expect(table.insert(9, cost: 5, for: "d") == [3])
        #expect(table.peek("d") == 9)
        #expect(table.bytes == 35)
        #expect(table.insert(8, cost: 20, for: "d") == [9, 0])
        #expect(table.bytes == 40)
    }

    @Test func `A value that costs more than the budget evicts only what it was to replace`() {
        var table = table()
        #expect(table.insert(9, cost: 41, for: "a") == [0])
        #expect(table.insert(9, cost: .max, for: "x") == [])
        #expect(table.count == 3)
        #expect(table.insert(9, cost: 40, for: "x") == [1, 2, 3])
        #expect(table.bytes == 40)
    }

    @Test(arguments: [0, -1, .min])
    func `Values without a cost still count`(cost: Int) {
        var table = SieveTable<Int, Int>(budgetBytes: 3)
        for number in 0..<3 { #expect(table.insert(number, cost: cost, for: number) == []) }
        #expect(table.insert(3, cost: cost, for: 3) == [0])
        #expect(table.bytes == 3)
    }

    @Test(arguments: [0, -1, .min])
    func `A table without a budget stays empty`(budgetBytes: Int) {
        var table = SieveTable<Int, Int>(budgetBytes: budgetBytes)
        #expect(table.insert(1, cost: 0, for: 1) == [])
        #expect(table.count == 0)
        #expect(table.budgetBytes == 0)
    }

    @Test func `Shrinking stops as soon as the target is met`() {
        var table = table()
        _ = table.value(for: "a")
        #expect(table.shrink(toBytes: 40) == [])
        #expect(table.shrink(toBytes: 25) == [1, 2])
        #expect(table.bytes == 20)
        #expect(table.shrink(toBytes: -1) == [3, 0])
        #expect(table.count == 0)
        #expect(table.bytes == 0)
        #expect(table.insert(5, cost: 40, for: "e") == [])
    }

    @Test func `Values that satisfy a predicate are removed, and no others`() {
        var table = table()
        #expect(table.removeAll { key, value in key == "a" || value == 2 }.sorted() == [0, 2])
        #expect(table.count == 2)
        #expect(table.bytes == 20)
        #expect(table.peek("b") == 1)
    }

    @Test func `An emptied table starts over, and the old one is returned whole`() {
        var table = table()
        let before = table.removeAll()
        #expect(before.count == 4)
        #expect(before.bytes == 40)
        #expect(table.count == 0)
        #expect(table.bytes == 0)
        #expect(table.insert(1, cost: 40, for: "a") == [])
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `Count and bytes are the sums over the values, and each value leaves exactly once`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var table = SieveTable<Int, Int>(budgetBytes: 500)
        /// The cost of each value in the table; a value is the number of the step that put it there.
        var costs: [Int: Int] = [:]
        for step in 0..<2000 {
            let key = Int.random(in: 0..<40, using: &random)
            var gone: [Int] = []
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<9: _ = table.value(for: key)
            case 9..<16:
                let cost = Int.random(in: 1...60, using: &random)
                costs[step] = cost
                gone = table.insert(step, cost: cost, for: key)
            case 16, 17: gone = table.remove(for: key).map { [$0] } ?? []
            case 18: gone = table.removeAll { $1 % 17 == key }
            default: gone = table.shrink(toBytes: 10 * key)
            }
            for value in gone { #expect(costs.removeValue(forKey: value) != nil) }
            #expect(table.count == costs.count)
            #expect(table.bytes == costs.values.reduce(0, +))
            #expect(table.bytes <= table.budgetBytes)
        }
    }
}
