import DarkroomTestLogs
import Foundation
import NIOCore
import Synchronization
import Testing

@testable import DarkroomStore

/// Changes to the directory and its volume while the store is open.
@Suite struct DiskSurroundingsTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    private func fill() async throws -> DiskStore {
        // No healing runs during the test.
        let store = try await fixture.openHealed()
        for number in 1...9 { store.store(entry(filler: UInt8(number), labels: ["host:a"]), for: key(number)) }
        await store.flush()
        return store
    }

    /// All the store's log lines, without their details.
    private var messages: [String] {
        fixture.log.lines.map { String($0.prefix { $0 != "[" }).trimmingCharacters(in: .whitespaces) }
    }

    /// When the directory was lost, and when it was back.
    private var losses: [String] { messages.filter(Self.gone.contains) }

    private static let gone = [
        "warning: disk cache: the directory was deleted or replaced",
        "notice: disk cache: the directory is in place again",
    ]

    @Test func `A directory that is deleted is created again, and the store goes on, empty`() async throws {
        let store = try await fill()
        try fixture.folder.remove("")
        for number in 1...9 { #expect(await store.entry(for: key(number)) == nil) }
        #expect(await store.storeAndWait(entry(filler: 2), for: key(2)))
        #expect(await store.entry(for: key(2)) == entry(filler: 2))
        #expect(store.statistics.entries == 1)
        #expect(store.statistics.corrupt == 0)
        #expect(store.statistics.droppedWrites == 0)
        #expect(await store.sources(matching: .equal("host:a")) == [])
        #expect(messages == Self.gone)
        // It holds the new directory as it held the old one, and leaves it in good order.
        await #expect(throws: DiskStoreError.inUse(directory: fixture.folder.path)) { try await fixture.open() }
        await store.close()
        let next = try await fixture.openHealed()
        #expect(await next.entry(for: key(2)) == entry(filler: 2))
        #expect(messages == Self.gone)
    }

    @Test(arguments: ["index.sqlite", "lock"])
    func `A file of the store's own that is deleted is created again, and no entry is lost`(name: String) async throws {
        let store = try await fill()
        try fixture.folder.remove(name)
        await store.remove(key(9))
        await store.waitUntilHealed()
        for number in 1...8 { #expect(await store.entry(for: key(number))?.labels == ["host:a"], "entry \(number)") }
        #expect(await store.entry(for: key(9)) == nil)
        #expect(fixture.folder.exists(name))
        #expect(Array(messages.prefix(2)) == Self.gone)
        await #expect(throws: DiskStoreError.inUse(directory: fixture.folder.path)) { try await fixture.open() }
    }

    @Test func `A folder of entries that is deleted leaves an empty store, not many corrupt entries`() async throws {
        let store = try await fill()
        try fixture.folder.remove("entries")
        for number in 1...9 { #expect(await store.entry(for: key(number)) == nil) }
        #expect(await store.storeAndWait(entry(), for: key(1)))
        #expect(store.statistics.entries == 1)
        #expect(store.statistics.corrupt == 0)
        #expect(fixture.log.count(of: "starting empty: the folder of entries is missing") == 1)
        #expect(fixture.log.count(of: "removed a corrupt entry") == 0)
    }

    @Test func `A directory that another store has taken over is left to it until that store closes`() async throws {
        let store = try await fill()
        // The store may be quicker to make the directory again, any number of times.
        var taken: DiskStore?
        while taken == nil {
            try? fixture.folder.remove("")
            taken = try? await fixture.open()
        }
        let other = try #require(taken)
        #expect(await !store.storeAndWait(entry(), for: key(1)))
        #expect(await store.entry(for: key(1)) == nil)
        #expect(await other.storeAndWait(entry(filler: 5), for: key(5)))
        #expect(await other.entry(for: key(5)) == entry(filler: 5))
        #expect(losses.count { $0 == Self.gone[0] } == losses.count { $0 == Self.gone[1] } + 1)
        #expect(losses.last == Self.gone[0])
        await other.close()
        #expect(await store.storeAndWait(entry(), for: key(1)))
        #expect(await store.entry(for: key(5)) == entry(filler: 5))
        #expect(losses.suffix(2) == Self.gone)
    }

    @Test(arguments: [4096, 8192, 12288, 16384, 20480, 24576])
    func `A page of the index that becomes corrupt is a miss; the index is rebuilt from the files, and nothing is lost`(
        offset: Int
    ) async throws {
        var store = try await fill()
        await store.close()
        try Self.destroy(fixture.folder("index.sqlite"), at: offset)
        store = try await fixture.open()
        for number in 1...9 {
            _ = await store.entry(for: key(number))
            store.store(entry(filler: UInt8(number), labels: ["host:a"]), for: key(number))
        }
        await store.flush()
        await store.removeExpired()
        #expect(await store.sources(matching: .equal("host:a")).count == 9)
        for number in 1...9 {
            #expect(await store.entry(for: key(number)) == entry(filler: UInt8(number), labels: ["host:a"]))
        }
        #expect(store.statistics.entries == 9)
        #expect(fixture.log.count(of: "warning: disk cache: rebuilding the index from the files") <= 1)
        #expect(
            fixture.log.count(of: "warning: disk cache: rebuilding the index from the files")
                == fixture.log.count(of: "notice: disk cache: rebuilt the index"))
        #expect(store.statistics.corrupt == 0)
    }

    private static func destroy(_ path: String, at offset: Int) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        try file.seek(toOffset: UInt64(offset))
        try file.write(contentsOf: Data(repeating: 0xFF, count: 64))
        try file.close()
    }

    @Test(.enabled(if: Volume.isMountable))
    func `On a full volume lookups go on and writes are dropped, logged once, until there is space again`()
        async throws
    {
        let volume = try Volume(bytes: 4 << 20)
        let store = try await fixture.open {
            $0.directory = volume.path + "/cache"
            $0.budgetBytes = 1 << 30
        }
        #expect(await store.storeAndWait(entry(filler: 1), for: key(1)))
        try volume.fill(leaving: 100_000)
        for number in 2...5 { #expect(await !store.storeAndWait(entry(1_000_000), for: key(number))) }
        #expect(await store.entry(for: key(1)) == entry(filler: 1))
        for number in 2...5 { #expect(await store.entry(for: key(number)) == nil) }
        #expect(store.statistics.droppedWrites == 4)
        #expect(messages == ["warning: disk cache: writing stopped: the volume is nearly full"])
        #expect(fixture.log.count(of: "No space left on device") == 1)
        #expect(store.statistics.entries == 1)
        try volume.empty()
        #expect(await store.storeAndWait(entry(1_000_000), for: key(2)))
        #expect(await store.entry(for: key(2)) == entry(1_000_000))
        #expect(messages.count == 2)
        #expect(messages.last == "notice: disk cache: writing resumed: the volume has space again")
        await store.close()
    }

    @Test(.enabled(if: Volume.isMountable))
    func `On a volume that becomes read-only, lookups go on, and removed entries stay hidden`() async throws {
        let volume = try Volume(bytes: 4 << 20)
        let store = try await fixture.open { $0.directory = volume.path + "/cache" }
        for number in 1...4 { store.store(entry(filler: UInt8(number)), for: key(number)) }
        await store.flush()
        try volume.setReadOnly(true)
        #expect(await !store.storeAndWait(entry(), for: key(5)))
        #expect(await store.entry(for: key(1)) == entry(filler: 1))
        await store.remove(key(2))
        #expect(await store.removeAll(ofSources: [key(3).source]) == StoreTotals())
        for number in 2...3 { #expect(await store.entry(for: key(number)) == nil) }
        #expect(await store.entry(for: key(4)) == entry(filler: 4))
        #expect(messages == ["warning: disk cache: writing fails"])
        try volume.setReadOnly(false)
        #expect(await store.storeAndWait(entry(), for: key(5)))
        for number in 2...3 { #expect(await store.entry(for: key(number)) == nil) }
        #expect(store.statistics.entries == 3)
        #expect(messages == ["warning: disk cache: writing fails", "notice: disk cache: writing works again"])
        await store.close()
    }

    @Test(.enabled(if: Volume.isMountable)) func `A directory on a read-only volume is refused as such`() async throws {
        let volume = try Volume(bytes: 1 << 20)
        try volume.setReadOnly(true)
        let path = volume.path + "/cache"
        await #expect(throws: DiskStoreError.readOnly(directory: path)) {
            try await fixture.open { $0.directory = path }
        }
    }

    @Test(.enabled(if: getuid() != 0)) func `A directory that this user may not write to is refused as such`()
        async throws
    {
        try FileManager.default.setAttributes([.posixPermissions: 0o500], ofItemAtPath: fixture.folder.path)
        await #expect(throws: DiskStoreError.readOnly(directory: fixture.folder.path)) { try await fixture.open() }
    }

    @Test(arguments: [
        (EROFS, DiskStoreError.readOnly(directory: "/c")), (EACCES, .readOnly(directory: "/c")),
        (ENOSPC, .unusable(directory: "/c", reason: "create: why")),
    ])
    func `The error number distinguishes a read-only directory from other failures`(
        code: Int32, error: DiskStoreError
    ) {
        #expect(DiskStoreError(StorageError(operation: "create", reason: "why", code: code), directory: "/c") == error)
    }

    @Test func `While writing fails, one entry at a time is tried and others are refused at once`() async throws {
        let gate = WriterGate()
        let store = try await gate.open(fixture) { $0.directory = fixture.folder("cache") }
        gate.free.withLock { $0 = 0 }
        gate.lift()
        #expect(await !store.storeAndWait(entry(), for: key(1)))
        gate.close()
        #expect(store.store(entry(), for: key(2)))
        #expect(!store.store(entry(), for: key(3)))
        #expect(store.statistics.queuedWrites == 1)
        #expect(store.statistics.queuedBytes == fileBytes(body: 1000, metadata: 5))
        gate.free.withLock { $0 = 1 }
        gate.lift()
        await store.flush()
        #expect(await store.entry(for: key(2)) == entry())
        #expect(store.store(entry(), for: key(3)))
        #expect(store.store(entry(), for: key(4)))
        await store.flush()
        #expect(store.statistics.entries == 3)
        #expect(store.statistics.droppedWrites == 2)
        #expect(store.statistics.queuedBytes == 0)
    }
}
