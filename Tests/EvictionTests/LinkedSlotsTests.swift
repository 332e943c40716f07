import Testing

@testable import DarkroomEviction

@Suite struct LinkedSlotsTests {
    private func drained(_ list: LinkedSlots<Int>) -> [Int] {
        var list = list
        var order: [Int] = []
        while let oldest = list.removeOldest() { order.append(oldest) }
        return order
    }

    @Test func `The least recently used element comes out first`() {
        var list = LinkedSlots<Int>()
        let slots = (0..<5).map { list.insert($0) }
        list.moveToNewest(slots[0])
        list.moveToNewest(slots[2])
        list.moveToNewest(slots[2])
        #expect(drained(list) == [1, 3, 4, 0, 2])
    }

    @Test func `Removing any element keeps the rest in order`() {
        for removed in 0..<4 {
            var list = LinkedSlots<Int>()
            let slots = (0..<4).map { list.insert($0) }
            #expect(list.remove(slots[removed]) == removed)
            #expect(list.remove(slots[removed]) == nil)
            #expect(list[slots[removed]] == nil)
            #expect(list.count == 3)
            #expect(drained(list) == (0..<4).filter { $0 != removed })
        }
    }

    @Test func `A list behaves like a plain array under any mix of operations`() {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            var list = LinkedSlots<Int>()
            var model: [(value: Int, slot: Int)] = []
            for step in 0..<200 {
                switch (Int.random(in: 0..<4, using: &random), model.indices.randomElement(using: &random)) {
                case (0, let index?):
                    list.moveToNewest(model[index].slot)
                    model.append(model.remove(at: index))
                case (1, let index?):
                    #expect(list.remove(model[index].slot) == model[index].value)
                    model.remove(at: index)
                case (2, _?):
                    #expect(list.removeOldest() == model.removeFirst().value)
                default:
                    model.append((step, list.insert(step)))
                }
            }
            #expect(drained(list) == model.map(\.value))
        }
    }
}
