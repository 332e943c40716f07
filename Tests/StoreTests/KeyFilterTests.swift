import NIOCore
import Synchronization
import Testing

@testable import DarkroomStore

/// The filter by which a key that the index does not have costs no query.
@Suite struct KeyFilterTests {
    private struct Unreadable: Error {}

    /// The positions of numbered keys.
    private func positions(_ numbers: Range<Int>) -> [IndexPosition] {
        numbers.map { IndexPosition(key: key($0), lastUse: Int64($0), bytes: 1) }
    }

    @Test func `A Bloom filter knows every key that it was given, and few others`() {
        var filter = BloomFilter(capacity: 10_000)
        for number in 0..<10_000 { filter.insert(key(number % 100, number)) }
        #expect((0..<10_000).allSatisfy { filter.mayContain(key($0 % 100, $0)) })
        #expect((0..<10_000).count { filter.mayContain(key($0 % 100, 10_000 + $0)) } < 100)
    }

    @Test func `Any key may be in the index until the filter is filled`() {
        let filter = KeyFilter()
        #expect(filter.isFilling)
        filter.fill(entries: 2) { _ in positions(0..<1) }
        #expect(filter.isFilling && filter.mayContain(key(5)))
        #expect(!filter.insert(key(2)), "its row may be one that was not read yet")
        filter.fill(entries: 2) { position in
            #expect(position.key == key(0))
            return positions(1..<2)
        }
        filter.fill(entries: 2) { _ in [] }
        #expect(!filter.isFilling)
        #expect((0...2).allSatisfy { filter.mayContain(key($0)) })
        #expect(!filter.mayContain(key(5)))
        #expect(filter.insert(key(5)) && !filter.insert(key(5)) && !filter.insert(key(2)))
    }

    @Test func `The filter is filled anew once as many keys were inserted as the index had entries`() {
        let filter = KeyFilter()
        filter.fill(entries: 5000) { _ in [] }
        for number in 0..<4999 { _ = filter.insert(key(number)) }
        #expect(!filter.isFilling)
        _ = filter.insert(key(4999))
        #expect(filter.isFilling)
        #expect(filter.mayContain(key(1)) && !filter.mayContain(key(-1)), "the old keys count meanwhile")
        filter.fill(entries: 5000) { _ in positions(4999..<5000) }
        filter.fill(entries: 5000) { _ in [] }
        #expect(filter.mayContain(key(4999)) && !filter.mayContain(key(1)))
    }

    @Test func `Any key may be in an index that cannot be read`() {
        let filter = KeyFilter()
        #expect(throws: Unreadable.self) {
            try filter.fill(entries: 1) { _ throws(Unreadable) in throw Unreadable() }
        }
        filter.stopFilling()
        #expect(!filter.isFilling && filter.mayContain(key(1)))
    }

    @Test func `A key that a store does not have is missed at once, and one that it has is found`() async throws {
        let fixture = try DiskFixture()
        for run in 0..<2 {
            let store = try await fixture.open()
            await fill(store)
            let numbers = run == 0 ? 0..<0 : 0..<40
            for number in numbers { #expect(await store.entry(for: key(number)) == entry(number)) }
            #expect(missesAtOnce([key(-1)], in: store))
            for number in 0..<40 { store.store(entry(number), for: key(number)) }
            await store.flush()
            await store.remove(key(7))
            #expect(await store.entry(for: key(7)) == nil)
            #expect(await store.entry(for: key(8)) == entry(8))
            store.store(entry(7), for: key(7))
            await store.close()
        }
    }

    @Test func `A store with more entries than one step reads fills its filter`() async throws {
        let fixture = try DiskFixture(budgetBytes: 64 << 20)
        var store = try await fixture.open()
        for number in 0..<2500 {
            store.store(row(number), for: key(number))
            if number.isMultiple(of: 250) { await store.flush() }
        }
        await store.close()
        store = try await fixture.open()
        await fill(store)
        #expect(missesAtOnce([key(-1)], in: store))
        for number in stride(from: 0, to: 2500, by: 50) { #expect(await store.entry(for: key(number)) == row(number)) }
        await store.close()
    }

    /// An entry without a file.
    private func row(_ number: Int) -> StoredEntry {
        StoredEntry(body: ByteBuffer(), metadata: ByteBuffer(string: "\(number)"))
    }

    /// Gives the store's maintenance time: a step follows each job.
    private func fill(_ store: DiskStore) async {
        for _ in 0..<8 { await store.flush() }
    }

    /// Whether a lookup finds nothing before it returns.
    private func missesAtOnce(_ keys: [EntryKey], in store: DiskStore) -> Bool {
        let found = Mutex<Int?>(nil)
        store.look(for: keys) { entries in found.withLock { $0 = entries.count } }
        return found.withLock { $0 == 0 }
    }
}
