import DarkroomTestClock
import DarkroomTestLogs
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

/// Entries that were verified before, whose files are not hashed again.
@Suite struct DiskHotTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    /// A store with entry 1 of 1,000 bytes, which was read and verified long after it was written.
    private func fill() async throws -> DiskStore {
        let store = try await fixture.openHealed()
        fixture.clock.setDate(ahead: 1e9)
        store.store(entry(filler: 1), for: key(1))
        await store.flush()
        #expect(store.entriesAtOnce(for: [key(1)]) == nil)
        #expect(await store.entry(for: key(1)) == entry(filler: 1))
        return store
    }

    @Test func `An entry that was read before is found without the index`() async throws {
        let store = try await fill()
        try fixture.execute("ALTER TABLE entry RENAME TO elsewhere")
        #expect(await store.entry(for: key(1)) == entry(filler: 1))
        #expect(store.statistics.hits == 2)
        #expect(fixture.log.lines.isEmpty)
    }

    @Test(.enabled(if: canReadFromMemory)) func `An entry that was read before is found at once`() async throws {
        let store = try await fill()
        #expect(store.entriesAtOnce(for: [key(1)]) == [entry(filler: 1)])
        #expect(store.entriesAtOnce(for: [key(1), key(1, 2)]) == nil)
        #expect(store.statistics.hits == 2)
        #expect(store.statistics.misses == 0)
    }

    static let canReadFromMemory: Bool = {
        guard let folder = try? TemporaryFolder(), (try? folder.write(Data([1]), to: "file")) != nil,
            let file = try? OpenFile(folder("file"))
        else { return false }
        return file.readFromMemory(from: 0, byteCount: 1) != nil
    }()

    static let damages: [DiskDamageTests.Damage] = [
        DiskDamageTests.Damage("a byte flips in place") { fixture, file in
            let handle = try #require(FileHandle(forUpdatingAtPath: fixture.folder(file)))
            try handle.seek(toOffset: 700)
            try handle.write(contentsOf: Data([0xEE]))
            try handle.close()
        },
        DiskDamageTests.Damage("a byte flips and the time of the change is set back") { fixture, file in
            let path = fixture.folder(file)
            let before = try FileManager.default.attributesOfItem(atPath: path)[.modificationDate]
            let handle = try #require(FileHandle(forUpdatingAtPath: path))
            try handle.seek(toOffset: 700)
            try handle.write(contentsOf: Data([0xEE]))
            try handle.close()
            try FileManager.default.setAttributes([.modificationDate: try #require(before)], ofItemAtPath: path)
        },
        .change("the file is replaced by one of the same size") { $0[$0.count - 1] ^= 1 },
        .change("the file lacks its last byte") { $0.removeLast() },
        DiskDamageTests.Damage("the file is gone") { try $0.folder.remove($1) },
        DiskDamageTests.Damage("the file is a link to the same bytes") {
            try FileManager.default.moveItem(atPath: $0.folder($1), toPath: $0.folder("elsewhere"))
            try FileManager.default.createSymbolicLink(
                atPath: $0.folder($1), withDestinationPath: $0.folder("elsewhere"))
        },
    ]

    @Test(arguments: damages)
    func `A file that is damaged after a verified read is found out`(damage: DiskDamageTests.Damage) async throws {
        let store = try await fill()
        #expect(await store.entry(for: key(1)) == entry(filler: 1))
        try damage.happen(fixture, DiskFixture.file(of: key(1)))
        #expect(store.entriesAtOnce(for: [key(1)]) == nil)
        #expect(await store.entry(for: key(1)) == nil)
        #expect(store.statistics.corrupt == 1)
        #expect(store.statistics.entries == 0)
    }

    @Test func `A file that was written a moment before it was verified is hashed again`() async throws {
        let store = try await fixture.openHealed()
        fixture.clock.setDate(ahead: Date().timeIntervalSince(fixture.clock.date))
        store.store(entry(filler: 1), for: key(1))
        await store.flush()
        #expect(await store.entry(for: key(1)) == entry(filler: 1))
        try fixture.execute("DELETE FROM entry")
        #expect(await store.entry(for: key(1)) == nil)
    }

    @Test(arguments: [0, 1000]) func `An entry that is written again, with or without a file, is found as it is now`(
        bodyBytes: Int
    ) async throws {
        let store = try await fill()
        for number in 1...3 {
            let next = entry(bodyBytes, filler: UInt8(number), metadata: "notes \(number)")
            #expect(await store.storeAndWait(next, for: key(1)))
            for _ in 1...2 { #expect(await store.entry(for: key(1)) == next) }
        }
        #expect(store.statistics.entries == 1)
        #expect(fixture.folder.files(below: "entries").count == (bodyBytes == 0 ? 0 : 1))
    }

    @Test(arguments: ["entry", "source", "everything", "eviction"])
    func `An entry without a file that was read before is not found once it is removed`(way: String) async throws {
        let store = try await fill()
        #expect(await store.storeAndWait(entry(0), for: key(2)))
        for _ in 1...2 { #expect(await store.entry(for: key(2)) == entry(0)) }
        switch way {
        case "entry": await store.remove(key(2))
        case "source": await store.removeAll(ofSources: [key(2).source])
        case "everything": await store.removeEverything()
        default:
            for number in 10...14 {
                fixture.clock.advance(by: .seconds(1))
                #expect(await store.storeAndWait(entry(fixture.budgetBytes / 5), for: key(number)))
            }
            await store.flush()
        }
        #expect(store.entriesAtOnce(for: [key(2)]) == nil)
        #expect(await store.entry(for: key(2)) == nil)
    }

    @Test func `An entry that was read before expires too`() async throws {
        let store = try await fixture.openHealed { $0.maxAge = .seconds(100) }
        fixture.clock.setDate(ahead: 1e9)
        store.store(entry(), for: key(1))
        await store.flush()
        for _ in 1...2 { #expect(await store.entry(for: key(1)) == entry()) }
        fixture.clock.advance(by: .seconds(101))
        #expect(await store.entry(for: key(1)) == nil)
    }

    @Test func `What a reader found in the index before a change does not become hot after it`() throws {
        var hot = HotEntries()
        let generation = hot.generation
        let record = EntryRecord(
            key: key(1), checksum: key(1).entry, labels: .none, fileBytes: 0, created: 0, modified: 0)
        let found = HotEntry(record, entry(0), nil, bodyOffset: 0, lastUse: 0)
        _ = hot.remove([key(2)])
        _ = hot.insert(found, foundIn: generation)
        #expect(hot.entry(for: key(1)) == nil)
        _ = hot.insert(found, foundIn: hot.generation)
        #expect(hot.entry(for: key(1))?.0 === found)
    }
}
