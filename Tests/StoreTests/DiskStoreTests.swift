import DarkroomMachine
import DarkroomTestLogs
import DarkroomTestRandom
import Foundation
import NIOCore
import Testing

@testable import DarkroomStore

@Suite struct DiskStoreTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    @Test func `A stored entry is found, also after the store is opened again`() async throws {
        var store = try await fixture.open()
        store.store(entry(filler: 1, metadata: "first"), for: key(1, 1))
        store.store(StoredEntry(body: ByteBuffer()), for: key(1, 2))
        await store.flush()
        #expect(await store.entry(for: key(1, 1)) == entry(filler: 1, metadata: "first"))
        #expect(await store.entry(for: key(2, 1)) == nil)
        await store.close()

        store = try await fixture.open()
        #expect(await store.entry(for: key(1, 1)) == entry(filler: 1, metadata: "first"))
        #expect(await store.entry(for: key(1, 2)) == StoredEntry(body: ByteBuffer()))
        #expect(store.statistics.entries == 2)
        #expect(store.statistics.hits == 2)
        #expect(fixture.log.lines.isEmpty)
    }

    @Test func `The digest of a body is taken from its owner, and a wrong one makes the entry corrupt`()
        async throws
    {
        let store = try await fixture.open()
        var right = entry(filler: 1)
        right.bodyDigest = StoreKey(hashing: right.body.readableBytesView)
        var wrong = entry(filler: 2)
        wrong.bodyDigest = right.bodyDigest
        #expect(await store.storeAndWait(right, for: key(1)))
        #expect(await store.storeAndWait(wrong, for: key(2)))
        #expect(await store.entry(for: key(1)) == right)
        #expect(await store.entry(for: key(2)) == nil)
        #expect(store.statistics.corrupt == 1)
    }

    #if os(Linux)
        @Test func `A body in a memory file is written whole, also in place of another`() async throws {
            let store = try await fixture.open()
            for byteCount in [1, 300_001, 70_000] {
                let bytes = ByteBuffer(bytes: (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 / 7) })
                var expected = entry(metadata: "\(byteCount)")
                expected.body = bytes
                var stored = expected
                stored.content = SharedBytes(try MemoryFile(copying: bytes))
                #expect(await store.storeAndWait(stored, for: key(1)))
                #expect(await store.entry(for: key(1)) == expected)
            }
            #expect(store.statistics.corrupt == 0)
        }
    #endif

    @Test func `A second entry for a key replaces the first`() async throws {
        let store = try await fixture.open()
        store.store(entry(5000, filler: 1), for: key(1))
        store.store(entry(10, filler: 2, metadata: "second"), for: key(1))
        await store.flush()
        #expect(await store.entry(for: key(1)) == entry(10, filler: 2, metadata: "second"))
        #expect(store.statistics.entries == 1)
        #expect(store.statistics.bytes == 4096)
    }

    @Test func `All entries of a source lie in one folder, which is named after its key's first digits`() async throws {
        let store = try await fixture.open()
        for number in 1...3 { store.store(entry(), for: key(1, number)) }
        store.store(entry(), for: key(2))
        await store.flush()
        let expected = [key(1, 1), key(1, 2), key(1, 3), key(2)].map(DiskFixture.file(of:)).sorted()
        #expect(fixture.folder.files(below: "entries") == expected)
        #expect(fixture.folder.files(below: "tmp") == [])
    }

    @Test func `The statistics' bytes are the blocks of the files, and the index has its own`() async throws {
        let store = try await fixture.open()
        for number in 1...10 { store.store(entry(1000 * number), for: key(number)) }
        store.store(entry(1), for: key(1))
        await store.remove(key(2))
        // Measures the index after the last write.
        #expect(await store.storeAndWait(entry(1), for: key(1)))
        #expect(fixture.folder.files(below: "entries").count == 9)
        #expect(store.statistics.bytes == (try fixture.entryBlocks()))
        let index = try ["index.sqlite", "index.sqlite-wal"].map { try fixture.folder.bytes($0).count }.reduce(0, +)
        // Pages that only the log has count twice.
        #expect((index...(index + (64 << 10))).contains(store.statistics.indexBytes))
    }

    @Test func `A removed entry is gone with its file, its row and the folders that it leaves empty`() async throws {
        let store = try await fixture.open()
        store.store(entry(), for: key(1))
        await store.remove(key(1))
        #expect(await store.entry(for: key(1)) == nil)
        #expect(store.statistics.entries == 0)
        #expect(store.statistics.bytes == 0)
        #expect(try fixture.rowCount() == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: fixture.folder("entries")) == [])
    }

    @Test func `Removing a source removes all of its entries, queued ones too, and nothing else`() async throws {
        let store = try await fixture.open()
        for number in 1...20 { store.store(entry(), for: key(1, number)) }
        store.store(entry(), for: key(2))
        await store.removeAll(ofSources: [key(1).source])
        #expect(fixture.folder.files(below: "entries") == [DiskFixture.file(of: key(2))])
        #expect(try fixture.rowCount() == 1)
        #expect(store.statistics.entries == 1)
        #expect(await store.entry(for: key(1, 7)) == nil)
        #expect(await store.entry(for: key(2)) != nil)
        #expect(store.statistics.corrupt == 0)
    }

    @Test func `A store without a budget keeps nothing and doesn't touch its directory`() async throws {
        let store = try await fixture.open {
            $0.budgetBytes = 0
            $0.directory += "/none"
        }
        store.store(entry(), for: key(1))
        await store.flush()
        #expect(await store.entry(for: key(1)) == nil)
        await store.remove(key(1))
        await store.close()
        #expect(!fixture.folder.exists("none"))
        #expect(store.statistics == DiskStatistics(misses: 1))
    }

    @Test func `A closed store finds nothing, keeps nothing and leaves the directory alone`() async throws {
        let store = try await fixture.open()
        store.store(entry(), for: key(1))
        await store.close()
        await store.close()
        let next = try await fixture.open()
        #expect(await store.entry(for: key(1)) == nil)
        store.store(entry(), for: key(2))
        await store.remove(key(1))
        await store.removeAll(ofSources: [key(1).source])
        await store.flush()
        #expect(await next.entry(for: key(1)) == entry())
        #expect(fixture.folder.files(below: "entries").count == 1)
        #expect(store.statistics.droppedWrites == 1)
        #expect(fixture.log.lines.isEmpty)
    }

    @Test func `A store can be closed while it's read and written`() async throws {
        for _ in 0..<20 {
            let store = try await fixture.open()
            store.store(entry(), for: key(1))
            await store.flush()
            await withTaskGroup { group in
                for number in 0..<20 {
                    group.addTask {
                        if number == 10 { await store.close() }
                        let found = await store.entry(for: key(1))
                        #expect(found == nil || found == entry())
                        store.store(entry(), for: key(1))
                    }
                }
            }
        }
        #expect(fixture.log.lines.isEmpty)
    }

    @Test func `A directory has one store at a time`() async throws {
        let store = try await fixture.open()
        await #expect(throws: DiskStoreError.inUse(directory: fixture.folder.path)) { try await fixture.open() }
        await store.close()
        await #expect(throws: Never.self) { try await fixture.open() }
    }

    @Test func `A directory that can't be created is refused with a reason`() async throws {
        try fixture.folder.write(Data(), to: "file")
        let path = fixture.folder("file/cache")
        let error = await #expect(throws: DiskStoreError.self) { try await fixture.open { $0.directory = path } }
        guard case .unusable(path, let reason) = error else {
            Issue.record("not refused as unusable: \(String(describing: error))")
            return
        }
        #expect(reason.contains("Not a directory"))
    }

    @Test(arguments: ["deep/down/cache", "cache///"])
    func `A missing directory is created for this user alone`(name: String) async throws {
        let store = try await fixture.open { $0.directory = fixture.folder(name) }
        store.store(entry(), for: key(1))
        await store.flush()
        let top = name.split(separator: "/")[0]
        let attributes = try FileManager.default.attributesOfItem(atPath: fixture.folder(String(top)))
        #expect(attributes[.posixPermissions] as? Int == 0o700)
        #expect(await store.entry(for: key(1)) != nil)
    }

    @Test func `A read returns nothing but what was stored for the key, with any concurrent operations`() async throws {
        let store = try await fixture.open {
            $0.budgetBytes = 300_000
            $0.queuedEntries = 100_000
        }
        let strange = await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask { await Self.exercise(store, seed: UInt64(task)) }
            }
            return await group.reduce(0, +)
        }
        #expect(strange == 0)
        // More than the budget, whatever the tasks did.
        for number in 0..<40 {
            store.store(entry(4000, filler: UInt8(number % 10)), for: key(number % 10, number / 10))
        }
        await store.flush()
        let statistics = store.statistics
        #expect(statistics.hits > 0)
        #expect(statistics.evictions > 0)
        #expect(statistics.corrupt == 0)
        #expect(statistics.droppedWrites == 0)
        #expect(statistics.queuedWrites == 0)
        #expect(statistics.bytes <= 300_000)
        #expect(statistics.entries == fixture.folder.files(below: "entries").count)
        #expect(statistics.bytes == (try fixture.entryBlocks()))
        #expect(fixture.log.lines.isEmpty)
    }

    /// Stores, reads and removes at random; returns the number of entries that were read but never stored.
    private static func exercise(_ store: DiskStore, seed: UInt64) async -> Int {
        var random = SeededRandom(seed: seed)
        var strange = 0
        for _ in 0..<300 {
            let number = Int.random(in: 0..<10, using: &random)
            let key = key(number, Int.random(in: 0..<4, using: &random))
            switch Int.random(in: 0..<10, using: &random) {
            case 0..<5:
                guard let found = await store.entry(for: key) else { continue }
                let expected = entry(found.body.readableBytes, filler: UInt8(number))
                if found != expected { strange += 1 }
            case 5..<9: store.store(entry(.random(in: 1...4000, using: &random), filler: UInt8(number)), for: key)
            default: await store.removeAll(ofSources: [key.source])
            }
        }
        return strange
    }
}
