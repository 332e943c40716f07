import Foundation
import NIOCore
import Testing

@testable import Store

/// Damage that is met at the start.
@Suite struct DiskHealingTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    /// Leaves a closed store with entries 1 to 9.
    private func fill() async throws {
        let store = try await fixture.open()
        for number in 1...9 { store.store(entry(filler: UInt8(number)), for: key(number)) }
        await store.close()
    }

    /// Opens the store and expects exactly these of the entries 1 to 9 in it, and that it takes new ones.
    @discardableResult
    private func expectEntries(_ numbers: [Int]) async throws -> DiskStore {
        let store = try await fixture.open()
        #expect(store.statistics.entries == numbers.count)
        for number in 1...9 {
            let expected = numbers.contains(number) ? entry(filler: UInt8(number)) : nil
            #expect(await store.entry(for: key(number)) == expected, "entry \(number)")
        }
        store.store(entry(), for: key(100))
        await store.flush()
        #expect(await store.entry(for: key(100)) == entry())
        #expect(store.statistics.droppedWrites == 0)
        await store.remove(key(100))
        return store
    }

    static let indexDamages: [DiskDamageTests.Damage] = [
        .change("garbage") { $0 = Data((0..<$0.count).map { UInt8(truncatingIfNeeded: $0 &* 31) }) },
        .change("garbage behind SQLite's mark") {
            $0.replaceSubrange(100..., with: Data(repeating: 0xA5, count: 9000))
        },
        .change("truncated to half") { $0 = $0.prefix($0.count / 2) },
        .change("truncated within a page") { $0 = $0.prefix(5000) },
        .change("one broken page") { $0.replaceSubrange(4096..<4196, with: Data(repeating: 0xFF, count: 100)) },
        .change("a broken last page") {
            let page = $0.count - 4096
            $0.replaceSubrange(page..<page + 100, with: Data(repeating: 0xFF, count: 100))
        },
        .change("a few bytes") { $0 = Data("SQLite".utf8) },
        DiskDamageTests.Damage("a folder") {
            try $0.folder.remove($1)
            try $0.folder.write(Data([1]), to: $1 + "/within")
        },
        DiskDamageTests.Damage("of a later version") { fixture, _ in try fixture.execute("PRAGMA user_version = 2") },
        DiskDamageTests.Damage("of a version before the first") { fixture, _ in
            try fixture.execute("PRAGMA user_version = 0")
        },
        DiskDamageTests.Damage("without our columns") { fixture, _ in
            try fixture.execute("ALTER TABLE entry RENAME COLUMN last_use TO used")
        },
        DiskDamageTests.Damage("without our table") { fixture, _ in try fixture.execute("DROP TABLE entry") },
    ]

    @Test(arguments: indexDamages)
    func `an index that can't be used is set aside and made again from the files`(
        damage: DiskDamageTests.Damage
    ) async throws {
        try await fill()
        try damage.happen(fixture, "index.sqlite")
        try await expectEntries(Array(1...9)).close()
        #expect(fixture.log.count(of: "making the index again from the files") == 1)
        #expect(fixture.log.count(of: "took files back into the index [\"count\": 9]") == 1)
        #expect(fixture.folder.exists("index.sqlite.damaged"))

        // Once more, on what the first healing left.
        try damage.happen(fixture, "index.sqlite")
        try await expectEntries(Array(1...9))
    }

    @Test(arguments: [
        DiskDamageTests.Damage("gone") { try $0.folder.remove($1) }, .change("of no length") { $0 = Data() },
    ])
    func `a missing or empty index is filled from the files`(damage: DiskDamageTests.Damage) async throws {
        try await fill()
        try damage.happen(fixture, "index.sqlite")
        try await expectEntries(Array(1...9))
        #expect(fixture.log.count(of: "took files back into the index [\"count\": 9]") == 1)
    }

    @Test func `a file without a row is taken back if its header is whole`() async throws {
        try await fill()
        try fixture.execute("DELETE FROM entry")
        try await expectEntries(Array(1...9))
        #expect(fixture.log.lines == ["warning: disk cache: took files back into the index [\"count\": 9]"])
    }

    @Test func `a file taken back that was damaged is never served`() async throws {
        try await fill()
        let file = DiskFixture.file(of: key(5))
        var bytes = try fixture.folder.bytes(file)
        bytes[bytes.count - 1] ^= 1
        try fixture.folder.write(bytes, to: file)
        try fixture.folder.remove("index.sqlite")
        let store = try await fixture.open()
        #expect(store.statistics.entries == 9)
        #expect(await store.entry(for: key(5)) == nil)
        #expect(store.statistics.damaged == 1)
        #expect(store.statistics.entries == 8)
    }

    @Test func `files that are no entries are removed`() async throws {
        try await fill()
        let file = DiskFixture.file(of: key(1))
        let folder = String(file.dropLast(65))
        let strangers = [
            folder + "/" + key(2).entry.hex, folder + "/notes.txt", String(folder.dropLast(65)) + "/file",
            String(folder.dropLast(65)) + "/" + key(3).source.hex + "/" + key(3).entry.hex, "entries/00/file",
            "entries/01/zz/" + key(1).source.hex + "/" + key(1).entry.hex, "entries/02",
            "entries/\(key(1).source.hex.prefix(2))/00/\(key(1).source.hex)/\(key(1).entry.hex)",
        ]
        try fixture.folder.write(Data([1]), to: strangers[0])
        // A whole entry under another's name.
        let other = try fixture.folder.bytes(DiskFixture.file(of: key(2)))
        for stranger in strangers.dropFirst().dropLast() { try fixture.folder.write(other, to: stranger) }
        // A whole entry in another's place.
        try fixture.folder.write(try fixture.folder.bytes(file), to: strangers[7])
        try await expectEntries(Array(1...9))
        for stranger in strangers { #expect(!fixture.folder.exists(stranger), "\(stranger)") }
        #expect(fixture.log.lines == ["warning: disk cache: removed files that are no entries [\"count\": 8]"])
    }

    @Test func `rows without files are forgotten`() async throws {
        try await fill()
        try fixture.folder.remove(DiskFixture.file(of: key(1)))
        try fixture.folder.remove(String(DiskFixture.file(of: key(2)).dropLast(65)))
        let store = try await expectEntries(Array(3...9))
        #expect(fixture.log.lines == ["warning: disk cache: forgot entries whose files are missing [\"count\": 2]"])
        #expect(store.statistics.damaged == 0)
    }

    @Test func `a truncated file is removed with its row`() async throws {
        try await fill()
        let file = DiskFixture.file(of: key(1))
        try fixture.folder.write(try fixture.folder.bytes(file).dropLast(), to: file)
        try await expectEntries(Array(2...9))
        #expect(!fixture.folder.exists(file))
    }

    @Test func `a file renamed over another before its row was written replaces it`() async throws {
        try await fill()
        let other = try TemporaryEntry.file(of: entry(50, filler: 200), for: key(1))
        try fixture.folder.write(other, to: DiskFixture.file(of: key(1)))
        let store = try await fixture.open()
        #expect(await store.entry(for: key(1)) == entry(50, filler: 200))
        #expect(store.statistics.entries == 9)
    }

    @Test func `unfinished files are removed, and nothing else that lies about`() async throws {
        try await fill()
        try fixture.folder.write(Data([1]), to: "tmp/" + key(1).entry.hex + ".partial")
        try fixture.folder.write(Data([1]), to: "tmp/mine")
        try fixture.folder.write(Data([1]), to: "mine")
        try fixture.folder.write(Data([1]), to: "entries/mine/file")
        try await expectEntries(Array(1...9))
        #expect(fixture.folder.files(below: "tmp") == ["tmp/mine"])
        #expect(fixture.folder.exists("mine"))
        #expect(fixture.folder.exists("entries/mine/file"))
        #expect(fixture.log.lines == ["warning: disk cache: removed unfinished files [\"count\": 1]"])
    }

    @Test(arguments: ["entries", "tmp"])
    func `a file in the place of a folder makes way for it`(folder: String) async throws {
        try await fill()
        try fixture.folder.remove(folder)
        try fixture.folder.write(Data([1]), to: folder)
        try await expectEntries(folder == "entries" ? [] : Array(1...9))
    }

    @Test func `what was on disk before a crash is there after it`() async throws {
        let store = try await fixture.open()
        for number in 1...9 { store.store(entry(filler: UInt8(number)), for: key(number)) }
        await store.flush()
        // As a crash leaves it: nothing closed, the index's log not merged.
        let crashed = try DiskFixture()
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) {
            try FileManager.default.copyItem(atPath: fixture.folder(name), toPath: crashed.folder(name))
        }
        let next = try await crashed.open()
        #expect(next.statistics.entries == 9)
        #expect(await next.entry(for: key(9)) == entry(filler: 9))
        #expect(crashed.log.lines.isEmpty)
    }

    @Test(arguments: ["", "garbage", "half"])
    func `a damaged log of the index costs no more than rows`(damage: String) async throws {
        let store = try await fixture.open()
        for number in 1...9 { store.store(entry(filler: UInt8(number)), for: key(number)) }
        await store.flush()
        let crashed = try DiskFixture()
        for name in try FileManager.default.contentsOfDirectory(atPath: fixture.folder.path) {
            try FileManager.default.copyItem(atPath: fixture.folder(name), toPath: crashed.folder(name))
        }
        let log = try crashed.folder.bytes("index.sqlite-wal")
        let damaged =
            damage == "half" ? log.prefix(log.count / 2) : Data(repeating: 0x5A, count: log.count * damage.count / 7)
        try crashed.folder.write(damaged, to: "index.sqlite-wal")
        let next = try await crashed.open()
        #expect(next.statistics.entries == 9)
        for number in 1...9 { #expect(await next.entry(for: key(number)) == entry(filler: UInt8(number))) }
    }

    @Test func `a healthy cache is opened without a word`() async throws {
        try await fill()
        try await expectEntries(Array(1...9))
        #expect(fixture.log.lines.isEmpty)
    }
}

/// A file as the store writes it.
private enum TemporaryEntry {
    static func file(of entry: StoredEntry, for key: EntryKey) throws -> Data {
        let record = EntryRecord(of: entry, key: key, created: 0)
        return Data(record.header.readableBytesView) + Data(entry.body.readableBytesView)
    }
}
