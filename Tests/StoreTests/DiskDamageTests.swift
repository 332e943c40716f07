import DarkroomTestLogs
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

/// Damage to files and rows while the store is open.
@Suite struct DiskDamageTests {
    /// A change to the file of an entry, or to its row.
    struct Damage: Sendable, CustomStringConvertible {
        let description: String
        let happen: @Sendable (DiskFixture, _ file: String) throws -> Void

        init(_ description: String, _ happen: @escaping @Sendable (DiskFixture, _ file: String) throws -> Void) {
            self.description = description
            self.happen = happen
        }

        /// The file's bytes change.
        static func change(_ description: String, _ change: @escaping @Sendable (inout Data) -> Void) -> Damage {
            Damage(description) { fixture, file in
                var bytes = try fixture.folder.bytes(file)
                change(&bytes)
                try fixture.folder.write(bytes, to: file)
            }
        }
    }

    static let damages: [Damage] = [
        .change("the last byte of the body flips") { $0[$0.count - 1] ^= 1 },
        .change("the first byte of the body flips") { $0[$0.count - 1000] ^= 0x80 },
        .change("the last byte of the metadata flips") { $0[$0.count - 1001] ^= 1 },
        .change("the file's mark flips") { $0[0] ^= 1 },
        .change("the file's checksum flips") { $0[8] ^= 1 },
        .change("the file's source key flips") { $0[40] ^= 1 },
        .change("the time of the first writing flips") { $0[104] ^= 1 },
        .change("the time of writing flips") { $0[112] ^= 1 },
        .change("the labels' length flips") { $0[127] ^= 1 },
        .change("the metadata's length is enormous") { $0[128] ^= 0x40 },
        .change("the body's length flips") { $0[143] ^= 1 },
        .change("the companion's length flips") { $0[151] ^= 1 },
        .change("a label flips") { $0[154] ^= 1 },
        .change("the companion flips") { $0[300] ^= 1 },
        .change("the file lacks its last byte") { $0.removeLast() },
        .change("the file has one byte more") { $0.append(0) },
        .change("the file is empty") { $0 = Data() },
        .change("the file is another of the same size") { $0 = Data(repeating: 0, count: $0.count) },
        Damage("the file is gone") { try $0.folder.remove($1) },
        Damage("a folder stands in the file's place") {
            try $0.folder.remove($1)
            try $0.folder.write(Data([1]), to: $1 + "/within")
        },
        Damage("a link to the same bytes stands in the file's place") {
            try FileManager.default.moveItem(atPath: $0.folder($1), toPath: $0.folder("elsewhere"))
            try FileManager.default.createSymbolicLink(
                atPath: $0.folder($1), withDestinationPath: $0.folder("elsewhere"))
        },
        Damage("the file belongs to another entry") {
            let other = try $0.folder.bytes(DiskFixture.file(of: key(2)))
            try $0.folder.write(other, to: $1)
        },
        Damage("the entry's folder is a file") { fixture, _ in
            let folder = DiskFixture.folder(of: key(1))
            try fixture.folder.remove(folder)
            try fixture.folder.write(Data([1]), to: folder)
        },
        Damage("the row's checksum flips") { fixture, _ in
            try fixture.execute("UPDATE entry SET checksum = zeroblob(32)")
        },
        Damage("the row's labels change") { fixture, _ in
            try fixture.execute("UPDATE entry SET labels = CAST('other' AS BLOB)")
        },
        Damage("the row's time changes") { fixture, _ in
            try fixture.execute("UPDATE entry SET modified = modified + 1")
        },
        Damage("the row says a size below zero") { fixture, _ in
            try fixture.execute("UPDATE entry SET size = -9223372036854775808")
        },
        Damage("the row says more than the file has bytes") { fixture, _ in
            try fixture.execute("UPDATE entry SET size = size + 1")
        },
        Damage("the file is larger than a buffer, as its row says") { fixture, file in
            let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: fixture.folder(file)))
            try handle.truncate(atOffset: 5 << 30)
            try handle.close()
            try fixture.execute("UPDATE entry SET size = 5368709120")
        },
    ]

    private static let companion = StoredEntry(body: ByteBuffer(), metadata: ByteBuffer(string: "what is known"))

    @Test(arguments: damages)
    func `A corrupt entry is a miss, is removed and counted, and can be stored anew`(damage: Damage) async throws {
        let fixture = try DiskFixture()
        let store = try await fixture.openHealed()
        for number in 1...2 {
            var entry = entry(filler: UInt8(number), labels: ["host:a"])
            entry.companion = StoredEntry.Companion(Self.companion, for: key(number, 1).entry)
            store.store(entry, for: key(number))
        }
        await store.flush()
        let file = DiskFixture.file(of: key(1))
        try damage.happen(fixture, file)

        #expect(await store.entry(for: key(1)) == nil)
        #expect(store.statistics.corrupt == 1)
        #expect(store.statistics.hits == 0)
        #expect(store.statistics.misses == 1)
        #expect(!fixture.folder.exists(file))
        #expect(fixture.log.count(of: "removed a corrupt entry [\"entry\": \(key(1).entry)]") == 1)
        #expect(await store.entry(for: key(1)) == nil)
        #expect(store.statistics.corrupt == 1)

        store.store(entry(filler: 3), for: key(1))
        await store.flush()
        #expect(await store.entry(for: key(1)) == entry(filler: 3))
        #expect(store.statistics.droppedWrites == 0)
    }

    @Test func `A header of a file that is larger than a buffer is refused`() {
        let start = EntryHeader(of: entry(), labels: .none, key: key(1), created: 0, modified: 0).bytes
        // The sum of the first pair overflows.
        let lengths: [(metadata: UInt64, body: UInt64, file: Int)] = [
            (1 << 62, 1 << 62, 1 << 62), (0, 5 << 30, EntryHeader.fixedBytes + (5 << 30)),
        ]
        for (metadata, body, file) in lengths {
            var header = start
            header.setInteger(metadata, at: 128)
            header.setInteger(body, at: 136)
            #expect(EntryHeader(reading: header, fileBytes: file) == nil)
        }
    }

    @Test func `An entry whose row is gone is a miss, and can be stored anew`() async throws {
        let fixture = try DiskFixture()
        let store = try await fixture.openHealed()
        store.store(entry(), for: key(1))
        await store.flush()
        try fixture.execute("DELETE FROM entry")
        #expect(await store.entry(for: key(1)) == nil)
        store.store(entry(filler: 3), for: key(1))
        await store.flush()
        #expect(await store.entry(for: key(1)) == entry(filler: 3))
    }

    @Test func `A store whose folders were deleted creates them again`() async throws {
        let fixture = try DiskFixture()
        let store = try await fixture.openHealed()
        store.store(entry(), for: key(1))
        await store.flush()
        try fixture.folder.remove("entries")
        try fixture.folder.remove("tmp")
        store.store(entry(filler: 2), for: key(2))
        await store.flush()
        #expect(await store.entry(for: key(1)) == nil)
        #expect(await store.entry(for: key(2)) == entry(filler: 2))
        #expect(store.statistics.droppedWrites == 0)
    }

    @Test func `When the index fails, lookups miss and writes are dropped, logged once until it works again`()
        async throws
    {
        let fixture = try DiskFixture()
        let store = try await fixture.openHealed()
        store.store(entry(), for: key(1))
        await store.flush()
        try fixture.execute("ALTER TABLE entry RENAME TO elsewhere")
        for number in 1...3 {
            #expect(await store.entry(for: key(number)) == nil)
            store.store(entry(), for: key(10 + number))
        }
        await store.flush()
        #expect(store.statistics.droppedWrites == 3)
        #expect(fixture.folder.files(below: "entries") == [DiskFixture.file(of: key(1))])
        #expect(fixture.folder.files(below: "tmp") == [])
        try fixture.execute("ALTER TABLE elsewhere RENAME TO entry")
        #expect(await store.entry(for: key(1)) == entry())
        store.store(entry(), for: key(20))
        await store.flush()
        for text in [
            "warning: disk cache: reading fails", "warning: disk cache: writing fails", "reading works again",
            "writing works again",
        ] {
            #expect(fixture.log.count(of: text) == 1, "\(text)")
        }
    }
}
