import Testing

@testable import DarkroomPipeline

struct IndexedHeapTests {
    @Test func `The first element has the lowest rank, whatever was inserted, moved and removed before`() {
        var heap = IndexedHeap<Int, Int>()
        var ranks: [Int: Int] = [:]
        for step in 0..<5000 {
            let key = step * 7919 % 101
            if step % 3 == 2 {
                heap.remove(key)
                ranks[key] = nil
            } else {
                ranks[key] = step * 104_729 % 1009 * 128 + key
                heap.set(key, to: ranks[key] ?? 0)
            }
            #expect(heap.first?.rank == ranks.values.min())
            #expect(heap.isEmpty == ranks.isEmpty)
        }
        while let first = heap.first {
            #expect(ranks.removeValue(forKey: first.key) == first.rank)
            #expect(ranks.values.allSatisfy { $0 > first.rank })
            heap.remove(first.key)
        }
        #expect(ranks.isEmpty)
    }
}
