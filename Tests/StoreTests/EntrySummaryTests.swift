import DarkroomTestClock
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

/// Peeking and listing, which leave the store unchanged.
struct EntrySummaryTests {
    @Test func `A peek into memory is no hit, and saves nothing from eviction`() {
        let store = MemoryStore(budgetBytes: 3 * MemoryStoreTests.costBytes)
        for number in 1...3 { store.store(entry(), for: key(number)) }
        #expect(store.peek(key(1)) == entry())
        #expect(store.peek(key(9)) == nil)
        #expect(store.summaries(ofSource: key(1).source, limit: 9).count == 1)
        #expect(store.statistics.hits == 0)
        #expect(store.statistics.misses == 0)
        store.store(entry(), for: key(4))
        #expect(store.peek(key(1)) == nil)
    }

    @Test func `Memory tells of a source's entries by key: cost, age, hits and notes`() {
        let clock = TestClock()
        let store = MemoryStore(budgetBytes: 1 << 20, uptime: { clock.elapsed })
        for number in 1...3 { store.store(entry(), for: key(1, number)) }
        store.store(entry(), for: key(2))
        clock.advance(by: .seconds(5))
        for _ in 0..<2 { _ = store.entry(for: key(1, 2)) }
        let listing = store.summaries(ofSource: key(1).source, limit: 9)
        #expect(listing.map(\.key) == [key(1, 1), key(1, 2), key(1, 3)].sorted { $0.entry.hex < $1.entry.hex })
        let second = listing.first { $0.key == key(1, 2) }
        #expect(
            second
                == EntrySummary(
                    key: key(1, 2), bytes: MemoryStoreTests.costBytes, age: .seconds(5), hits: 2,
                    metadata: ByteBuffer(string: "notes")))
        #expect(store.summaries(ofSource: key(1).source, limit: 2) == Array(listing.prefix(2)))
        store.store(entry(), for: key(1, 2))
        #expect(store.summaries(ofSource: key(1).source, limit: 9).first { $0.key == key(1, 2) }?.hits == 0)
    }

    @Test func `A peek at the disk is no hit and no use, and leaves a corrupt entry in place`() async throws {
        let fixture = try DiskFixture()
        let store = try await fixture.open { $0.maxAge = .seconds(10) }
        store.store(entry(), for: key(1))
        await store.flush()
        fixture.clock.advance(by: .seconds(9))
        #expect(await store.peek(key(1)) == entry())
        #expect(await store.peek(key(2)) == nil)
        #expect(store.statistics.hits == 0)
        #expect(store.statistics.misses == 0)
        fixture.clock.advance(by: .seconds(2))
        #expect(await store.peek(key(1)) == nil)
        #expect(await store.entry(for: key(1)) == nil)

        store.store(entry(), for: key(3))
        await store.flush()
        let file = DiskFixture.file(of: key(3))
        var bytes = try fixture.folder.bytes(file)
        bytes[bytes.count - 1] ^= 1
        try fixture.folder.write(bytes, to: file)
        #expect(await store.peek(key(3)) == nil)
        #expect(store.statistics.corrupt == 0)
        #expect(store.statistics.entries == 2)
    }

    @Test func `The disk store lists the entries of a source by key, without removed ones`() async throws {
        let fixture = try DiskFixture()
        let store = try await fixture.open()
        for number in 1...3 { store.store(entry(), for: key(1, number)) }
        store.store(entry(), for: key(2))
        await store.flush()
        fixture.clock.advance(by: .seconds(5))
        let keys = [key(1, 1), key(1, 2), key(1, 3)].sorted { $0.entry.hex < $1.entry.hex }
        let listing = await store.summaries(ofSource: key(1).source, limit: 9)
        let bytes = fileBytes(body: 1000, metadata: 5)
        #expect(listing == keys.map { EntrySummary(key: $0, bytes: bytes, age: .seconds(5)) })
        #expect(await store.summaries(ofSource: key(1).source, limit: 2) == Array(listing.prefix(2)))
        await store.remove(keys[0])
        #expect(await store.summaries(ofSource: key(1).source, limit: 9).map(\.key) == Array(keys[1...]))
        await store.close()
        #expect(await store.summaries(ofSource: key(1).source, limit: 9).isEmpty)
    }
}
