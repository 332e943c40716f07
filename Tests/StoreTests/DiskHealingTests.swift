import DarkroomTestLogs
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

/// Healing after a crash or a disk failure.
@Suite struct DiskHealingTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    /// Leaves a store with entries 1 to 9 that looks like one that was killed.
    private func fill() async throws {
        let store = try await fixture.open()
        for number in 1...9 { store.store(Self.stored(number), for: key(number)) }
        await store.close()
        try fixture.forgetClosing()
    }

    private static func stored(_ number: Int) -> StoredEntry {
        entry(filler: UInt8(number), labels: ["number:\(number)"])
    }

    /// Opens the store and expects exactly these of the entries 1 to 9 in it, and that it takes new ones.
    @discardableResult
    private func expectEntries(_ numbers: [Int]) async throws -> DiskStore {
        let store = try await fixture.openHealed()
        // Corruption inside the index shows when it is read, or when these uses are written.
        for number in 1...9 { _ = await store.entry(for: key(number)) }
        await store.flush()
        await store.waitUntilHealed()
        #expect(store.statistics.entries == numbers.count)
        for number in 1...9 {
            let isThere = numbers.contains(number)
            #expect(await store.entry(for: key(number)) == (isThere ? Self.stored(number) : nil), "entry \(number)")
            let sources = await store.sources(matching: .equal("number:\(number)"))
            #expect(sources == (isThere ? [key(number).source] : []), "entry \(number)")
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
        DiskDamageTests.Damage("of a later version") { fixture, _ in try fixture.execute("PRAGMA user_version = 5") },
        DiskDamageTests.Damage("of a version before the first") { fixture, _ in
            try fixture.execute("PRAGMA user_version = 0")
        },
        DiskDamageTests.Damage("of the version before") { fixture, _ in
            try fixture.execute("PRAGMA user_version = 3")
        },
        DiskDamageTests.Damage("whose sums are enormous") { fixture, _ in
            try fixture.execute("UPDATE state SET bytes = 9223372036854775807")
        },
        DiskDamageTests.Damage("whose sums are below zero") { fixture, _ in
            try fixture.execute("UPDATE state SET entries = -9223372036854775808")
        },
        DiskDamageTests.Damage("whose count is beyond its size") { fixture, _ in
            try fixture.execute("UPDATE state SET entries = 1099511627776")
        },
        DiskDamageTests.Damage("that says nothing of itself") { fixture, _ in
            try fixture.execute("DELETE FROM state")
        },
        DiskDamageTests.Damage("without our columns") { fixture, _ in
            try fixture.execute("ALTER TABLE entry RENAME COLUMN last_use TO used")
        },
        DiskDamageTests.Damage("without our table") { fixture, _ in try fixture.execute("DROP TABLE entry") },
    ]

    @Test(arguments: indexDamages)
    func `An unusable index is set aside and rebuilt from the files`(
        damage: DiskDamageTests.Damage
    ) async throws {
        try await fill()
        try damage.happen(fixture, "index.sqlite")
        try await expectEntries(Array(1...9)).close()
        #expect(fixture.log.count(of: "warning: disk cache: rebuilding the index from the files") == 1)
        #expect(fixture.log.count(of: "adopted files without a row in the index [\"count\": 9]") == 1)
        #expect(fixture.log.count(of: "notice: disk cache: rebuilt the index") == 1)
        #expect(fixture.folder.exists("index.sqlite.damaged"))

        // Again, after the first healing.
        try damage.happen(fixture, "index.sqlite")
        try await expectEntries(Array(1...9))
    }

    @Test func `An index of a build without times of later uses is kept, with its entries that have no file`()
        async throws
    {
        let record = StoredEntry(body: ByteBuffer(), metadata: ByteBuffer(string: "record"))
        let first = try await fixture.open()
        first.store(record, for: key(1))
        await first.close()
        try fixture.execute("DROP TABLE later_use")
        let store = try await fixture.openHealed()
        #expect(await store.entry(for: key(1)) == record)
        #expect(fixture.log.lines == [])
    }

    @Test(arguments: [
        DiskDamageTests.Damage("gone") { try $0.folder.remove($1) }, .change("of no length") { $0 = Data() },
    ])
    func `A missing or empty index is filled from the files`(damage: DiskDamageTests.Damage) async throws {
        try await fill()
        try damage.happen(fixture, "index.sqlite")
        try await expectEntries(Array(1...9))
        #expect(fixture.log.count(of: "adopted files without a row in the index [\"count\": 9]") == 1)
    }

    @Test func `A file without a row is adopted if its header is intact`() async throws {
        try await fill()
        try fixture.execute("DELETE FROM entry")
        try await expectEntries(Array(1...9))
        #expect(fixture.log.lines == ["warning: disk cache: adopted files without a row in the index [\"count\": 9]"])
    }

    @Test func `A corrupt file that was adopted is never served`() async throws {
        try await fill()
        let file = DiskFixture.file(of: key(5))
        var bytes = try fixture.folder.bytes(file)
        bytes[bytes.count - 1] ^= 1
        try fixture.folder.write(bytes, to: file)
        try fixture.folder.remove("index.sqlite")
        let store = try await fixture.openHealed()
        #expect(store.statistics.entries == 9)
        #expect(await store.entry(for: key(5)) == nil)
        #expect(store.statistics.corrupt == 1)
        #expect(store.statistics.entries == 8)
    }

    @Test func `Files that are not entries are removed`() async throws {
        try await fill()
        let file = DiskFixture.file(of: key(1))
        let folder = DiskFixture.folder(of: key(1))
        let strangers = [
            folder + "/" + key(1).source.hex + key(2).entry.hex, folder + "/notes.txt",
            folder + "/" + key(3).source.hex + key(3).entry.hex, folder + "/" + key(1).source.hex,
            folder + "/" + key(1).entry.hex + "/file", "entries/02b", file + "0",
        ]
        try fixture.folder.write(Data([1]), to: strangers[0])
        // A whole entry under another's name.
        let other = try fixture.folder.bytes(DiskFixture.file(of: key(2)))
        for stranger in strangers.dropFirst().dropLast() { try fixture.folder.write(other, to: stranger) }
        // A whole entry in another's place.
        try fixture.folder.write(try fixture.folder.bytes(file), to: strangers[6])
        try await expectEntries(Array(1...9))
        for stranger in strangers { #expect(!fixture.folder.exists(stranger), "\(stranger)") }
        #expect(fixture.log.lines == ["warning: disk cache: removed files that are not entries [\"count\": 7]"])
    }

    @Test func `A file that was not completed under its own name is removed, and the entry can be stored`() async throws
    {
        try await fill()
        let file = DiskFixture.file(of: key(10))
        let whole = try TemporaryEntry.file(of: entry(50), for: key(10))
        try fixture.folder.write(whole.dropLast(), to: file)
        let store = try await expectEntries(Array(1...9))
        #expect(!fixture.folder.exists(file))
        try fixture.folder.write(whole.dropLast(), to: file)
        #expect(await store.entry(for: key(10)) == nil)
        #expect(await store.storeAndWait(entry(70), for: key(10)))
        #expect(await store.entry(for: key(10)) == entry(70))
    }

    @Test func `Rows without files are removed`() async throws {
        try await fill()
        try fixture.folder.remove(DiskFixture.file(of: key(1)))
        try fixture.folder.remove(DiskFixture.folder(of: key(2)))
        let store = try await expectEntries(Array(3...9))
        #expect(fixture.log.lines == ["warning: disk cache: removed rows without a file from the index [\"count\": 2]"])
        #expect(store.statistics.corrupt == 0)
    }

    @Test func `A truncated file is removed with its row`() async throws {
        try await fill()
        let file = DiskFixture.file(of: key(1))
        try fixture.folder.write(try fixture.folder.bytes(file).dropLast(), to: file)
        try await expectEntries(Array(2...9))
        #expect(!fixture.folder.exists(file))
    }

    @Test func `A file renamed over another before its row was written replaces it`() async throws {
        try await fill()
        let other = try TemporaryEntry.file(of: entry(50, filler: 200), for: key(1))
        try fixture.folder.write(other, to: DiskFixture.file(of: key(1)))
        let store = try await fixture.openHealed()
        #expect(await store.entry(for: key(1)) == entry(50, filler: 200))
        #expect(await store.sources(matching: .equal("number:1")) == [])
        #expect(store.statistics.entries == 9)
    }

    @Test func `Unfinished files are removed, and no others`() async throws {
        try await fill()
        try fixture.folder.write(Data([1]), to: DiskFixture.file(of: key(1)) + ".partial")
        try fixture.folder.write(Data([1]), to: "tmp/mine")
        try fixture.folder.write(Data([1]), to: "mine")
        try fixture.folder.write(Data([1]), to: "entries/mine/file")
        try await expectEntries(Array(1...9))
        #expect(fixture.folder.files(below: "tmp") == ["tmp/mine"])
        #expect(fixture.folder.exists("mine"))
        #expect(fixture.folder.exists("entries/mine/file"))
        #expect(!fixture.folder.exists(DiskFixture.file(of: key(1)) + ".partial"))
        #expect(fixture.log.lines == ["warning: disk cache: removed files that are not entries [\"count\": 1]"])
    }

    @Test func `Only three lowercase digits name a folder of entries`() {
        let layout = DiskLayout("/cache")
        #expect(["000", "0ff", "fff"].map(layout.numberOfFolder) == [0, 0xFF, 0xFFF])
        for name in ["-ff", "+ff", "FFF", "-10", "-00", "ff", "0fff", "0fg"] {
            #expect(layout.numberOfFolder(named: name) == nil, "\(name)")
        }
    }

    @Test func `A folder whose name is a negative number is left alone`() async throws {
        try await fill()
        // As many files as a slice takes, so that the next slice would begin behind this number.
        for number in 0..<256 { try fixture.folder.write(Data([1]), to: "entries/-ff/\(number)") }
        try await expectEntries(Array(1...9))
        #expect(fixture.folder.files(below: "entries/-ff").count == 256)
        #expect(fixture.log.lines.isEmpty)
    }

    @Test(arguments: ["entries", "tmp"])
    func `A file in the place of a folder is removed`(folder: String) async throws {
        try await fill()
        try fixture.folder.remove(folder)
        try fixture.folder.write(Data([1]), to: folder)
        try await expectEntries(folder == "entries" ? [] : Array(1...9))
    }

    @Test func `What was on disk before a crash is there after it`() async throws {
        let store = try await fixture.open()
        for number in 1...9 { store.store(Self.stored(number), for: key(number)) }
        await store.flush()
        let crashed = try fixture.crashed()
        let next = try await crashed.openHealed()
        #expect(next.statistics.entries == 9)
        #expect(await next.entry(for: key(9)) == Self.stored(9))
        #expect(crashed.log.lines.isEmpty)
    }

    @Test(arguments: ["", "garbage", "half"])
    func `A corrupt log of the index costs only rows`(damage: String) async throws {
        let store = try await fixture.open()
        for number in 1...9 { store.store(Self.stored(number), for: key(number)) }
        await store.flush()
        let crashed = try fixture.crashed()
        let log = try crashed.folder.bytes("index.sqlite-wal")
        let damaged =
            damage == "half" ? log.prefix(log.count / 2) : Data(repeating: 0x5A, count: log.count * damage.count / 7)
        try crashed.folder.write(damaged, to: "index.sqlite-wal")
        let next = try await crashed.openHealed()
        #expect(next.statistics.entries == 9)
        for number in 1...9 { #expect(await next.entry(for: key(number)) == Self.stored(number)) }
    }

    @Test func `Wrong totals are corrected when index and files are compared`() async throws {
        try await fill()
        try fixture.execute("UPDATE state SET entries = entries + 5, bytes = bytes - 1000")
        let store = try await expectEntries(Array(1...9))
        #expect(store.statistics.bytes == (try fixture.entryBlocks()))
    }

    @Test func `A row with an enormous size costs no other entry`() async throws {
        let opened = try await fixture.open()
        for number in 1...9 { opened.store(Self.stored(number), for: key(number)) }
        // Its row has no file that corrects the size.
        opened.store(StoredEntry(body: ByteBuffer(), metadata: ByteBuffer(string: "notes")), for: key(10))
        await opened.close()
        try fixture.forgetClosing()
        // Evicted first, because it is the oldest.
        try fixture.execute(
            "UPDATE entry SET size = 4611686018427387904, last_use = last_use - 1 WHERE content IS NOT NULL")
        let store = try await expectEntries(Array(1...9))
        #expect(store.statistics.evictions == 1)
        #expect((0...fixture.budgetBytes).contains(store.statistics.bytes))
    }

    @Test func `A healthy cache is opened without a log line`() async throws {
        try await fill()
        try await expectEntries(Array(1...9))
        #expect(fixture.log.lines.isEmpty)
    }
}

/// A file as the store writes it.
private enum TemporaryEntry {
    static func file(of entry: StoredEntry, for key: EntryKey) throws -> Data {
        let labels = try #require(EntryLabels(entry.labels))
        let head = EntryHeader(of: entry, labels: labels, key: key, created: 0, modified: 0)
        return Data(head.bytes.readableBytesView) + Data(entry.metadata.readableBytesView)
            + Data(entry.body.readableBytesView)
    }
}
