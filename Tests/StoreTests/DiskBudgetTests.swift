import DarkroomTestClock
import NIOCore
import Synchronization
import Testing

@testable import DarkroomStore

@Suite struct DiskBudgetTests {
    /// What the file of a `large()` entry takes: much more than the index and its log.
    static let largeBytes = 512 << 10
    /// A budget that so many of them, the index and its log fit into, and no further one.
    static func budget(for entries: Int) -> Int { entries * largeBytes + largeBytes / 2 }
    static func large() -> StoredEntry { entry(largeBytes - EntryHeader.fixedBytes - 5) }

    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture(budgetBytes: Self.budget(for: 20)) }

    /// Stores entries one second after another, until all are on disk.
    private func store(_ numbers: ClosedRange<Int>, in store: DiskStore) async {
        for number in numbers {
            fixture.clock.advance(by: .seconds(1))
            store.store(Self.large(), for: key(number))
            await store.flush()
        }
    }

    private func found(_ numbers: ClosedRange<Int>, in store: DiskStore) async -> [Int] {
        var found: [Int] = []
        for number in numbers where await store.entry(for: key(number)) != nil { found.append(number) }
        return found
    }

    @Test func `The budget is filled; one entry more and the oldest go down to nine tenths`() async throws {
        let store = try await fixture.open()
        await self.store(1...20, in: store)
        #expect(store.statistics.evictions == 0)
        #expect(store.statistics.bytes == 20 * Self.largeBytes)
        await self.store(21...21, in: store)
        #expect(store.statistics.evictions == 3)
        #expect(store.statistics.entries == 18)
        #expect(await found(1...21, in: store) == Array(4...21))
        #expect(fixture.folder.files(below: "entries").count == 18)
    }

    @Test func `The last used entries stay, though a use writes nothing`() async throws {
        let store = try await fixture.open()
        await self.store(1...20, in: store)
        fixture.clock.advance(by: .seconds(1))
        #expect(await found(1...2, in: store) == [1, 2])
        await self.store(21...21, in: store)
        #expect(await found(1...21, in: store) == [1, 2] + Array(6...21))
    }

    @Test func `A use leaves the row as it is until eviction comes to it`() async throws {
        let store = try await fixture.open()
        await self.store(1...20, in: store)
        fixture.clock.advance(by: .seconds(1))
        #expect(await found(1...2, in: store) == [1, 2])
        await store.flush()
        #expect(try fixture.rowCount(where: "last_use > modified") == 0)
        await self.store(21...21, in: store)
        #expect(try fixture.rowCount(where: "last_use > modified") == 2)
    }

    @Test func `If all entries were used, the least recently used go`() async throws {
        let store = try await fixture.open()
        await self.store(1...20, in: store)
        for number in (1...20).reversed() {
            fixture.clock.advance(by: .seconds(1))
            #expect(await store.entry(for: key(number)) != nil)
        }
        await self.store(21...21, in: store)
        #expect(await found(1...21, in: store) == Array(1...17) + [21])
    }

    @Test(arguments: [nil, .seconds(1_000)] as [Duration?])
    func `A record stays as long as an image of its source is used along with it`(maxAge: Duration?) async throws {
        let store = try await fixture.open { $0.maxAge = maxAge }
        for number in [100, 101] {
            #expect(await store.storeAndWait(Self.record(), for: key(number, 1)))
            #expect(await store.storeAndWait(Self.large(), for: key(number)))
        }
        await self.store(1...18, in: store)
        fixture.clock.advance(by: .seconds(1))
        #expect(await look(for: [key(100, 1), key(100)], in: store) == [Self.record(), Self.large()])
        await self.store(19...19, in: store)
        #expect(await look(for: [key(100, 1), key(100)], in: store) == [Self.record(), Self.large()])
        #expect(await look(for: [key(101, 1), key(101)], in: store) == [])
        #expect(store.statistics.evictions == 4)
    }

    private func look(for keys: [EntryKey], in store: DiskStore) async -> [StoredEntry] {
        await withCheckedContinuation { continuation in store.look(for: keys) { continuation.resume(returning: $0) } }
    }

    @Test func `Uses are remembered when the store closes`() async throws {
        var store = try await fixture.open()
        await self.store(1...20, in: store)
        fixture.clock.advance(by: .seconds(1))
        #expect(await found(1...1, in: store) == [1])
        await store.close()
        store = try await fixture.open()
        await self.store(21...21, in: store)
        #expect(await found(1...21, in: store) == [1] + Array(5...21))
    }

    private static func record(_ bytes: Int = 450) -> StoredEntry {
        StoredEntry(body: ByteBuffer(), metadata: ByteBuffer(repeating: 7, count: bytes))
    }

    @Test(
        arguments: [(true, nil, true), (true, .seconds(1_000), false), (false, nil, false)] as [(Bool, Duration?, Bool)]
    )
    func `A record outlives files that were used later, unless its last access counts`(
        keepsRecords: Bool, maxAge: Duration?, stays: Bool
    ) async throws {
        let store = try await fixture.open { ($0.keepsRecordsLonger, $0.maxAge) = (keepsRecords, maxAge) }
        #expect(await store.storeAndWait(Self.record(), for: key(100)))
        // Three times as many as fit.
        await self.store(1...60, in: store)
        #expect(await store.entry(for: key(1)) == nil)
        #expect(await store.entry(for: key(40)) == nil)
        #expect(await store.entry(for: key(100)) == (stays ? Self.record() : nil))
        #expect(store.statistics.entries == fixture.folder.files(below: "entries").count + (stays ? 1 : 0))
    }

    @Test func `A record that outlives files does not count as used in the future`() async throws {
        let store = try await fixture.open { $0.keepsRecordsLonger = true }
        #expect(await store.storeAndWait(Self.record(), for: key(100)))
        await self.store(1...60, in: store)
        await store.close()
        #expect(try fixture.rowCount(where: "size = 0") == 1)
        #expect(try fixture.rowCount(where: "last_use > (SELECT max(modified) + 1000 FROM entry)") == 0)
    }

    @Test func `Records that take more than an eighth of the budget are evicted in turn`() async throws {
        let store = try await fixture.open { $0.keepsRecordsLonger = true }
        for number in 101...160 { #expect(await store.storeAndWait(Self.record(30 << 10), for: key(number))) }
        #expect(store.statistics.indexBytes > fixture.budgetBytes / 8)
        await self.store(1...21, in: store)
        #expect(await store.entry(for: key(101)) == nil)
        #expect(await store.entry(for: key(21)) != nil)
    }

    @Test func `A smaller budget is kept from the start`() async throws {
        var store = try await fixture.open()
        await self.store(1...20, in: store)
        await store.close()
        store = try await fixture.openHealed { $0.budgetBytes = Self.budget(for: 10) }
        #expect(store.statistics.entries == 9)
        #expect(await found(1...20, in: store) == Array(12...20))
    }

    @Test func `An entry that would push out all others is dropped and counted`() async throws {
        let store = try await fixture.open()
        await self.store(1...1, in: store)
        store.store(entry(fixture.budgetBytes * 9 / 10), for: key(2))
        await store.flush()
        #expect(store.statistics.droppedWrites == 1)
        #expect(await found(1...2, in: store) == [1])
    }

    @Test func `Many small entries make room for a large one`() async throws {
        let store = try await fixture.open { $0.budgetBytes = 5 << 20 }
        for number in 1...1000 { store.store(entry(10), for: key(number)) }
        await store.flush()
        fixture.clock.advance(by: .seconds(1))
        #expect(store.statistics.evictions == 0)
        store.store(entry(4_000_000), for: key(2000))
        await store.flush()
        #expect(await store.entry(for: key(2000)) != nil)
        #expect(store.statistics.bytes + store.statistics.indexBytes <= (5 << 20) * 9 / 10)
        #expect(store.statistics.entries == fixture.folder.files(below: "entries").count)
    }
}

@Suite struct DiskStateTests {
    @Test func `A write is due after each batch of entries, not after each use`() {
        let state = DiskState(lastUsesBatch: 3)
        let due = [1, 2, 1, 2, 3, 3, 4, 5, 6].map {
            state.recordLookup(hits: 1, used: [key($0)], isOneMissing: false, at: 0)
        }
        #expect(due == [false, false, false, false, true, false, false, false, true])
    }

    @Test func `The last use of an entry is handed over once`() {
        let state = DiskState(lastUsesBatch: 10)
        _ = state.recordLookup(hits: 1, used: [key(1)], isOneMissing: false, at: 5)
        _ = state.recordLookup(hits: 1, used: [key(1)], isOneMissing: true, at: 6)
        #expect(state.takeLastUses() == [key(1): 6])
        #expect(state.takeLastUses() == [:])
    }

    @Test func `An entry that was removed has no last use`() {
        let state = DiskState(lastUsesBatch: 10)
        _ = state.recordLookup(hits: 3, used: (1...3).map { key($0) }, isOneMissing: false, at: 5)
        state.rowsChanged([key(1)])
        state.rowsChanged(ofSources: [key(2).source])
        #expect(state.takeLastUses() == [key(3): 5])
    }
}
