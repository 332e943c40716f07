import DarkroomMachine
import DarkroomTestRandom
import NIOCore
import Testing

@testable import DarkroomStore

@Suite struct MemoryStoreTests {
    /// The cost of `entry()`.
    static let costBytes = 1000 + 5 + MemoryStore.entryOverheadBytes

    @Test func `An entry is found for its key and no other`() {
        let store = MemoryStore(budgetBytes: 1 << 20)
        store.store(entry(filler: 1), for: key(1, 1))
        #expect(store.entry(for: key(1, 1)) == entry(filler: 1))
        #expect(store.entry(for: key(1, 2)) == nil)
        #expect(store.entry(for: key(2, 1)) == nil)
        let expected = MemoryStatistics(entries: 1, bytes: Self.costBytes, hits: 1, misses: 2, evictions: 0)
        #expect(store.statistics == expected)
    }

    #if os(Linux)
        @Test func `Only so many bodies stay in memory files, and each that leaves makes room for another`() throws {
            let limit = 50
            let store = MemoryStore(budgetBytes: 1 << 20, maxFiles: limit)
            let file = try MemoryFile(copying: ByteBuffer(repeating: 7, count: 100))
            func isInFile(_ number: Int) -> Bool? { store.entry(for: key(number)).map { $0.content.file != nil } }
            func storeFile(_ number: Int) { store.store(StoredEntry(content: SharedBytes(file)), for: key(number)) }
            for number in 0..<limit { storeFile(number) }
            #expect((0..<limit).allSatisfy { isInFile($0) == true })
            let departures: [() -> Void] = [
                { store.remove(key(0)) }, { store.store(entry(), for: key(1)) },
                { store.removeAll(ofSources: [key(2).source]) }, { store.store(entry(2 << 20), for: key(3)) },
            ]
            for (number, leave) in departures.enumerated() {
                storeFile(-1)
                #expect(isInFile(-1) == false)
                #expect(store.entry(for: key(-1))?.body == ByteBuffer(repeating: 7, count: 100))
                leave()
                storeFile(limit + number)
                #expect(isInFile(limit + number) == true)
            }
            store.shrink(toBytes: 0)
            for number in 0...limit { storeFile(number) }
            #expect((0..<limit).allSatisfy { isInFile($0) == true })
            store.removeEverything()
            storeFile(0)
            #expect(isInFile(0) == true)
        }
    #endif

    @Test func `A full store takes copies of another store from their second time on`() {
        let store = MemoryStore(budgetBytes: 2 * Self.costBytes)
        #expect(store.promote(entry(), for: key(1)))
        #expect(store.promote(entry(), for: key(2)))
        #expect(!store.promote(entry(), for: key(3)))
        #expect(store.promote(entry(filler: 2), for: key(1)))
        #expect(store.entry(for: key(1)) == entry(filler: 2))
        #expect(store.promote(entry(), for: key(3)))
        #expect(store.entry(for: key(3)) == entry())
        for _ in 1...2 { #expect(!store.promote(entry(10_000), for: key(4))) }
        #expect(store.statistics.entries == 2)
    }

    @Test func `A second entry for a key replaces the first`() {
        let store = MemoryStore(budgetBytes: 1 << 20)
        store.store(entry(5000), for: key(1))
        store.store(entry(1000, filler: 2), for: key(1))
        #expect(store.entry(for: key(1)) == entry(1000, filler: 2))
        #expect(store.statistics.bytes == Self.costBytes)
        #expect(store.statistics.entries == 1)
    }

    @Test func `The budget is filled to the last byte and never exceeded`() {
        let store = MemoryStore(budgetBytes: 3 * Self.costBytes)
        for number in 1...3 { store.store(entry(), for: key(number)) }
        #expect(store.statistics.bytes == 3 * Self.costBytes)
        #expect(store.statistics.evictions == 0)
        store.store(entry(1), for: key(4))
        #expect(store.statistics.entries == 3)
        #expect(store.statistics.evictions == 1)
        #expect(store.entry(for: key(1)) == nil)
    }

    @Test func `An entry with a hit outlives newer ones without`() {
        let store = MemoryStore(budgetBytes: 3 * Self.costBytes)
        store.store(entry(), for: key(0))
        for number in 1...10 {
            #expect(store.entry(for: key(0)) != nil)
            store.store(entry(), for: key(number))
        }
        #expect(store.statistics.evictions == 8)
    }

    @Test func `An entry larger than the budget is not stored and evicts only the one it would have replaced`() {
        let store = MemoryStore(budgetBytes: 2 * Self.costBytes)
        store.store(entry(), for: key(1))
        store.store(entry(), for: key(2))
        store.store(entry(5000), for: key(1))
        #expect(store.entry(for: key(1)) == nil)
        #expect(store.entry(for: key(2)) != nil)
        #expect(store.statistics.evictions == 0)
    }

    @Test(arguments: [0, -1])
    func `A store without a budget stays empty`(budgetBytes: Int) {
        let store = MemoryStore(budgetBytes: budgetBytes)
        store.store(StoredEntry(body: ByteBuffer()), for: key(1))
        #expect(store.entry(for: key(1)) == nil)
        #expect(store.statistics.bytes == 0)
    }

    @Test func `A removed entry is gone and its bytes are free`() {
        let store = MemoryStore(budgetBytes: 1 << 20)
        store.store(entry(), for: key(1))
        store.remove(key(1))
        store.remove(key(1))
        #expect(store.entry(for: key(1)) == nil)
        #expect(store.statistics.bytes == 0)
        #expect(store.statistics.entries == 0)
    }

    @Test func `Removing a source removes all of its entries and nothing else`() {
        let store = MemoryStore(budgetBytes: 1 << 20)
        for number in 1...5 { store.store(entry(), for: key(1, number)) }
        store.store(entry(), for: key(2))
        let removed = store.removeAll(ofSources: [key(1).source, key(3).source])
        #expect(removed == StoreTotals(entries: 5, bytes: 5 * Self.costBytes))
        #expect(store.statistics.entries == 1)
        #expect(store.statistics.bytes == Self.costBytes)
        #expect(store.entry(for: key(2)) != nil)
        #expect(store.removeAll(ofSources: [key(1).source]) == StoreTotals())
    }

    @Test func `The totals of a source count its entries, and are no hit`() {
        let store = MemoryStore(budgetBytes: 3 * Self.costBytes)
        for number in 1...3 { store.store(entry(), for: key(1, number)) }
        #expect(store.totals(ofSource: key(1).source) == StoreTotals(entries: 3, bytes: 3 * Self.costBytes))
        #expect(store.totals(ofSource: key(2).source) == StoreTotals())
        store.store(entry(), for: key(2))
        #expect(store.totals(ofSource: key(1).source) == StoreTotals(entries: 2, bytes: 2 * Self.costBytes))
        #expect(store.entry(for: key(1, 1)) == nil)
        #expect(store.statistics.hits == 0)
    }

    @Test func `Removing everything leaves only the counts`() {
        let store = MemoryStore(budgetBytes: 1 << 20)
        for number in 1...5 { store.store(entry(), for: key(number)) }
        #expect(store.entry(for: key(1)) != nil)
        #expect(store.removeEverything() == StoreTotals(entries: 5, bytes: 5 * Self.costBytes))
        #expect(store.removeEverything() == StoreTotals())
        #expect(store.statistics == MemoryStatistics(hits: 1))
        #expect(store.entry(for: key(1)) == nil)
        store.store(entry(), for: key(1))
        #expect(store.totals(ofSource: key(1).source).entries == 1)
    }

    @Test func `The labels of an entry count towards its cost`() {
        let store = MemoryStore(budgetBytes: 1 << 20)
        var labelled = entry()
        labelled.labels = ["host:example.com", "tag:süß"]
        store.store(labelled, for: key(1))
        #expect(store.statistics.bytes == Self.costBytes + 16 + 9)
        #expect(store.entry(for: key(1))?.labels == labelled.labels)
    }

    @Test func `Shrinking spares entries with hits, and the store fills up again`() {
        let store = MemoryStore(budgetBytes: 10 * Self.costBytes)
        for number in 1...10 { store.store(entry(), for: key(number)) }
        for number in 1...3 { _ = store.entry(for: key(number)) }
        #expect(store.shrink(toBytes: 4 * Self.costBytes) == StoreTotals(entries: 6, bytes: 6 * Self.costBytes))
        #expect((1...3).allSatisfy { store.entry(for: key($0)) != nil })
        #expect(store.statistics.shrinks == 1)
        #expect(store.statistics.evictions == 0)
        for number in 11...16 { store.store(entry(), for: key(number)) }
        #expect(store.statistics.bytes == 10 * Self.costBytes)
    }

    @Test func `Shrinking a store that is small enough does nothing`() {
        let store = MemoryStore(budgetBytes: 1 << 20)
        store.store(entry(), for: key(1))
        #expect(store.shrink(toBytes: Self.costBytes) == StoreTotals())
        #expect(store.statistics.shrinks == 0)
        #expect(store.statistics.entries == 1)
    }

    @Test(arguments: [-1, 0, 7 << 20])
    func `A store of many megabytes shrinks to the target in one go`(targetBytes: Int) {
        let store = MemoryStore(budgetBytes: 20 << 20)
        for number in 1...30 { store.store(entry(700 << 10), for: key(number)) }
        store.shrink(toBytes: targetBytes)
        let left = max(0, targetBytes)
        #expect(store.statistics.bytes <= left)
        #expect(store.statistics.bytes > left - (701 << 10))
        #expect(store.statistics.shrinks == 1)
    }

    @Test func `A small slice of a large buffer doesn't keep the large one alive`() throws {
        let store = MemoryStore(budgetBytes: 1 << 20)
        let large = ByteBuffer(repeating: 3, count: 1 << 20)
        let slice = try #require(large.getSlice(at: 10, length: 1000))
        store.store(StoredEntry(body: slice), for: key(1))
        let found = try #require(store.entry(for: key(1)))
        #expect(found.body == slice)
        #expect(found.body.storageCapacity <= 2048)
    }

    @Test func `A source without entries leaves no trace, however they were removed`() {
        let store = MemoryStore(budgetBytes: 4 * Self.costBytes)
        for number in 1...8 { store.store(entry(), for: key(number / 2, number)) }
        #expect(store.indexedSourceCount == 3)
        store.shrink(toBytes: 3 * Self.costBytes)
        #expect(store.indexedSourceCount == 2)
        store.remove(key(4, 8))
        #expect(store.indexedSourceCount == 1)
        store.removeAll(ofSources: [key(3).source])
        #expect(store.indexedSourceCount == 0)
        store.store(entry(), for: key(1))
        store.store(entry(50_000), for: key(1))
        #expect(store.indexedSourceCount == 0)
        store.store(entry(), for: key(1))
        store.removeEverything()
        #expect(store.indexedSourceCount == 0)
    }

    @Test func `The totals are right after any concurrent operations`() async {
        let store = MemoryStore(budgetBytes: 20 * Self.costBytes)
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    var random = SeededRandom(seed: UInt64(task))
                    for _ in 0..<2000 {
                        let key = key(Int.random(in: 0..<10, using: &random), Int.random(in: 0..<5, using: &random))
                        switch Int.random(in: 0..<12, using: &random) {
                        case 0..<5: _ = store.entry(for: key)
                        case 5..<8: store.store(entry(), for: key)
                        case 8: store.remove(key)
                        case 9: store.removeAll(ofSources: [key.source])
                        case 10: store.shrink(toBytes: 10 * Self.costBytes)
                        default: store.removeEverything()
                        }
                    }
                }
            }
        }
        let statistics = store.statistics
        #expect(statistics.bytes <= store.budgetBytes)
        #expect(statistics.bytes == statistics.entries * Self.costBytes)
        let totals = (0..<10).map { store.totals(ofSource: key($0).source).entries }
        #expect(totals.reduce(0, +) == statistics.entries)
        store.removeAll(ofSources: (0..<10).map { key($0).source })
        #expect(store.statistics.entries == 0)
        #expect(store.statistics.bytes == 0)
    }
}
