import DarkroomTestClock
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

/// Entries that were not read before, and are found without waiting for a device.
@Suite(.enabled(if: DiskHotTests.canReadFromMemory && LookupConnection.canReadAtOnce)) struct DiskAtOnceTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    /// A store with these entries, and with a connection for lookups at once: the first one of a thread that must not
    /// wait asks for it, and the next other lookup opens it.
    private func store(_ entries: [EntryKey: StoredEntry]) async throws -> DiskStore {
        let store = try await fixture.openHealed()
        fixture.clock.setDate(ahead: 1e9)
        for (key, entry) in entries { store.store(entry, for: key) }
        store.store(entry(), for: key(99))
        await store.flush()
        #expect(store.entriesAtOnce(for: [key(99)]) == nil)
        #expect(await store.entry(for: key(99)) == entry())
        return store
    }

    private func damage(_ key: EntryKey) throws {
        let file = DiskFixture.file(of: key)
        var bytes = try fixture.folder.bytes(file)
        bytes[bytes.count - 1] ^= 1
        try fixture.folder.write(bytes, to: file)
    }

    @Test func `Entries with and without a file are found at once, and count as hits`() async throws {
        let store = try await store([key(1): entry(0, labels: ["a", "b"]), key(1, 1): entry(17_000, filler: 1)])
        let found = store.entriesAtOnce(for: [key(1), key(1, 1)])
        #expect(found == [entry(0, labels: ["a", "b"]), entry(17_000, filler: 1)])
        #expect(store.statistics.hits == 3)
        try fixture.execute("ALTER TABLE entry RENAME TO elsewhere")
        #expect(store.entriesAtOnce(for: [key(1), key(1, 1)]) == found)
    }

    @Test func `An entry is known to be absent before it is stored, and after it was removed`() async throws {
        let store = try await store([key(1): entry(), key(2): entry()])
        #expect(store.isAbsent(key(3)))
        #expect(!store.isAbsent(key(1)) && !store.isAbsent(key(2)))
        #expect(await store.entry(for: key(2)) == entry())
        #expect(!store.isAbsent(key(2)))
        await store.removeAll(ofSources: [key(1).source])
        await store.remove(key(2))
        #expect(store.isAbsent(key(1)) && store.isAbsent(key(2)))
        #expect(store.statistics.misses == 0)
        store.store(entry(), for: key(1))
        await store.flush()
        #expect(!store.isAbsent(key(1)))
        await store.close()
        #expect(store.isAbsent(key(1)))
    }

    @Test func `An entry that is read at once for the first time is verified`() async throws {
        let store = try await store([key(1): entry(), key(2): entry()])
        try damage(key(1))
        #expect(store.entriesAtOnce(for: [key(1)]) == nil)
        #expect(store.statistics.corrupt == 0)
        #expect(await store.entry(for: key(1)) == nil)
        #expect(store.statistics.corrupt == 1)
        #expect(store.entriesAtOnce(for: [key(2)]) == [entry()])
    }

    @Test func `A missing entry and a large file are left to other lookups`() async throws {
        let store = try await store([key(1): entry(), key(1, 1): entry(EntryReader.largestHashedAtOnce)])
        #expect(store.entriesAtOnce(for: [key(1), key(1, 2)]) == nil)
        #expect(store.entriesAtOnce(for: [key(1), key(1, 1)]) == nil)
        #expect(store.statistics.hits == 1)
        #expect(store.statistics.misses == 0)
        #expect(await store.entry(for: key(1, 1)) == entry(EntryReader.largestHashedAtOnce))
    }

    @Test(arguments: ["entry", "source", "everything", "close"])
    func `A removed entry is not found at once`(way: String) async throws {
        let store = try await store([key(1): entry()])
        switch way {
        case "entry": await store.remove(key(1))
        case "source": await store.removeAll(ofSources: [key(1).source])
        case "everything": await store.removeEverything()
        default: await store.close()
        }
        #expect(store.entriesAtOnce(for: [key(1)]) == nil)
    }

    @Test func `An entry past its maximum age is not found at once`() async throws {
        let store = try await fixture.openHealed { $0.maxAge = .seconds(100) }
        for number in 1...2 { store.store(entry(), for: key(number)) }
        await store.flush()
        _ = store.entriesAtOnce(for: [key(1)])
        #expect(await store.entry(for: key(1)) == entry())
        #expect(store.entriesAtOnce(for: [key(2)]) == [entry()])
        fixture.clock.advance(by: .seconds(101))
        #expect(store.entriesAtOnce(for: [key(2)]) == nil)
    }

    @Test func `A full table of verified entries takes an entry that comes again soon`() {
        var hot = HotEntries()
        func found(_ number: Int, fileBytes: Int = 0) -> HotEntry {
            let record = EntryRecord(
                key: key(number), checksum: key(1).entry, labels: .none, fileBytes: fileBytes, created: 0, modified: 0)
            return HotEntry(record, entry(0), nil, bodyOffset: 0, lastUse: 0)
        }
        func isTaken(_ entry: HotEntry) -> Bool {
            _ = hot.insert(entry, foundIn: hot.generation)
            return hot.entry(for: entry.record.key) != nil
        }
        var number = 0
        while isTaken(found(number)) { number += 1 }
        #expect(number > 1_000)
        #expect(isTaken(found(number)))
        #expect(!isTaken(found(number + 1)))
        #expect(isTaken(found(number + 2, fileBytes: EntryReader.largestHashedAtOnce + 1)))
    }
}
