import DarkroomTestClock
import DarkroomTestLogs
import Foundation
import NIOCore
import Synchronization
import Testing

@testable import DarkroomStore

/// Volumes that have fewer bytes or inodes than the budget has room for.
@Suite(.enabled(if: Volume.isMountable)) struct DiskVolumeTests {
    let fixture: DiskFixture

    init() throws { fixture = try DiskFixture() }

    /// - Parameter isMeasured: whether the store knows how much of the volume is free, as it does without a quota.
    private func open(on volume: Volume, isMeasured: Bool) async throws -> DiskStore {
        if isMeasured { fixture.volume.withLock { $0 = nil } }
        return try await fixture.open {
            $0.directory = volume.path + "/cache"
            $0.budgetBytes = 1 << 30
        }
    }

    private func found(_ numbers: ClosedRange<Int>, in store: DiskStore) async -> [Int] {
        var found: [Int] = []
        for number in numbers where await store.entry(for: key(number)) != nil { found.append(number) }
        return found
    }

    @Test func `The inodes of a volume count as free space`() throws {
        let volume = try Volume(bytes: 64 << 20, inodes: 100)
        let before = try #require(DiskStore.freeFraction(ofVolume: volume.path))
        #expect(before > 0.9)
        for number in 1...80 { try Data().write(to: URL(fileURLWithPath: "\(volume.path)/\(number)")) }
        let after = try #require(DiskStore.freeFraction(ofVolume: volume.path))
        #expect(after > 0.1 && after < 0.2)
    }

    @Test(arguments: [true, false])
    func `A store whose volume runs out of inodes evicts the least recently used entries and goes on`(
        isMeasured: Bool
    ) async throws {
        let volume = try Volume(bytes: 64 << 20, inodes: 200)
        let store = try await open(on: volume, isMeasured: isMeasured)
        for number in 1...400 {
            fixture.clock.advance(by: .seconds(1))
            #expect(await store.storeAndWait(entry(10), for: key(number)), "entry \(number)")
            // In use all the time.
            if number > 1 { #expect(await store.entry(for: key(1)) == entry(10), "entry 1 after \(number)") }
        }
        #expect(store.isHealthy())
        #expect(store.statistics.evictions > 300)
        #expect(store.statistics.droppedWrites == 0)
        #expect(store.statistics.corrupt == 0)
        let left = await found(1...400, in: store)
        #expect(left.count > 60)
        #expect(left == [1] + Array((402 - left.count)...400))
        #expect(fixture.log.lines.count == 1)
        #expect(fixture.log.count(of: "warning: disk cache: evicting entries below the budget") == 1)

        // One hour without need.
        await store.removeEverything()
        while !DiskLayout(volume.path + "/cache").foldersSetAside.isEmpty { await store.flush() }
        fixture.clock.advance(by: .seconds(3601))
        #expect(await store.storeAndWait(entry(10), for: key(1)))
        #expect(fixture.log.lines.count == 2)
        #expect(fixture.log.lines.last?.hasPrefix("notice: disk cache: the volume has had space for an hour") == true)
        await store.close()
    }

    @Test(arguments: [true, false])
    func `A store whose volume runs out of bytes evicts entries and goes on`(isMeasured: Bool) async throws {
        let volume = try Volume(bytes: 8 << 20)
        let store = try await open(on: volume, isMeasured: isMeasured)
        for number in 1...60 {
            fixture.clock.advance(by: .seconds(1))
            let entry = entry(number % 10 == 0 ? 2_000_000 : 300_000)
            #expect(await store.storeAndWait(entry, for: key(number)), "entry \(number)")
            #expect(await store.entry(for: key(number)) == entry)
        }
        #expect(store.isHealthy())
        #expect(store.statistics.droppedWrites == 0)
        #expect(store.statistics.corrupt == 0)
        #expect(fixture.log.lines.count == 1)
        #expect(fixture.log.count(of: "warning: disk cache: evicting entries below the budget") == 1)
        await store.close()
    }

    @Test func `No entry is evicted for a larger one that they could not make room for`() async throws {
        let volume = try Volume(bytes: 8 << 20)
        let store = try await open(on: volume, isMeasured: false)
        #expect(await store.storeAndWait(entry(), for: key(1)))
        try volume.fill(leaving: 100_000)
        #expect(await !store.storeAndWait(entry(1_000_000), for: key(2)))
        #expect(await store.entry(for: key(1)) == entry())
        #expect(store.statistics.evictions == 0)
        await store.close()
    }

    @Test func `On a volume that others fill, entries are not given up, since all together would not suffice`()
        async throws
    {
        let volume = try Volume(bytes: 64 << 20)
        let store = try await open(on: volume, isMeasured: true)
        for number in 1...40 { store.store(entry(10_000), for: key(number)) }
        await store.flush()
        try volume.fill(leaving: 1_300_000)
        for number in 41...50 { #expect(await !store.storeAndWait(entry(10_000), for: key(number))) }
        // One shows how little it helps.
        #expect(store.statistics.evictions == 1)
        #expect(store.isHealthy())
        #expect(fixture.log.lines.count == 1)
        #expect(fixture.log.count(of: "warning: disk cache: writing stopped: the volume is nearly full") == 1)
        try volume.empty()
        #expect(await store.storeAndWait(entry(10_000), for: key(41)))
        await store.close()
    }

    @Test func `Blocks count, of small files too, and with the index and its log they stay within the budget`()
        async throws
    {
        let volume = try Volume(bytes: 64 << 20)
        let budget = 4 << 20
        let store = try await fixture.open {
            $0.directory = volume.path + "/cache"
            $0.budgetBytes = budget
        }
        var highest = 0
        for number in 1...1500 {
            fixture.clock.advance(by: .seconds(1))
            store.store(entry(400, labels: ["host:a", "number:\(number)"]), for: key(number))
            store.store(StoredEntry(body: ByteBuffer(), metadata: entry().metadata), for: key(number, 1))
            guard number.isMultiple(of: 10) else { continue }
            await store.flush()
            highest = max(highest, try Self.blocks(below: volume.path + "/cache"))
        }
        await store.flush()
        #expect(store.statistics.evictions > 0)
        let files = try Self.blocks(below: volume.path + "/cache/entries")
        #expect(store.statistics.bytes == files)
        #expect(highest <= budget)
        #expect(highest > budget * 3 / 4)
        await store.close()
    }

    /// The bytes of the blocks of all files below a folder.
    private static func blocks(below path: String) throws -> Int {
        let names = FileManager.default.enumerator(atPath: path)?.compactMap { $0 as? String } ?? []
        return names.reduce(0) { sum, name in
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return sum }
            // SQLite's map of the log is memory that several processes share; the log itself is what counts.
            return name.hasSuffix("-shm") ? sum : sum + Int(status.st_blocks) * 512
        }
    }

    // MARK: Starting

    @Test func `A store opens on a full volume, evicts and goes on`() async throws {
        let volume = try Volume(bytes: 8 << 20)
        var store = try await open(on: volume, isMeasured: false)
        for number in 1...300 { store.store(entry(10_000, filler: UInt8(number % 256)), for: key(number)) }
        await store.close()
        try volume.fill(leaving: 0)
        store = try await open(on: volume, isMeasured: false)
        await store.waitUntilHealed()
        let entries = store.statistics.entries
        #expect(entries > 100 && entries < 300)
        #expect(await found(1...300, in: store).count == entries)
        #expect(store.isHealthy())
        #expect(await store.storeAndWait(entry(10_000), for: key(301)))
        #expect(await store.entry(for: key(301)) == entry(10_000))
        #expect(fixture.log.count(of: "deleting entries to open the index: the volume is full") == 1)
        await store.close()
    }

    @Test(arguments: [true, false])
    func `On a volume that others have filled, a store opens empty and works once there is space`(
        lacksInodes: Bool
    ) async throws {
        let volume = try Volume(bytes: 4 << 20, inodes: lacksInodes ? 20 : 1000)
        var fillers: [String] = []
        if lacksInodes {
            while case let path = "\(volume.path)/\(fillers.count)",
                FileManager.default.createFile(atPath: path, contents: nil)
            { fillers.append(path) }
        } else {
            try volume.fill(leaving: 0)
        }
        let store = try await open(on: volume, isMeasured: false)
        #expect(await !store.storeAndWait(entry(), for: key(1)))
        #expect(await store.entry(for: key(1)) == nil)
        await store.remove(key(1))
        #expect(await store.sources(matching: .all) == [])
        #expect(store.isHealthy(), "requests are answered without the disk")
        #expect(fixture.log.lines.count == 1)
        #expect(fixture.log.count(of: "warning: disk cache: writing stopped: the volume is nearly full") == 1)
        for filler in fillers { try FileManager.default.removeItem(atPath: filler) }
        if !lacksInodes { try volume.empty() }
        #expect(await store.storeAndWait(entry(), for: key(1)))
        #expect(await store.entry(for: key(1)) == entry())
        #expect(fixture.log.lines.count == 2)
        #expect(fixture.log.count(of: "notice: disk cache: writing resumed: the volume has space again") == 1)
        await store.close()
    }

    @Test func `An index that is corrupt is rebuilt on a full volume`() async throws {
        let volume = try Volume(bytes: 8 << 20)
        var store = try await open(on: volume, isMeasured: false)
        for number in 1...300 { store.store(entry(10_000), for: key(number)) }
        await store.close()
        try Data(repeating: 7, count: 60_000).write(to: URL(fileURLWithPath: volume.path + "/cache/index.sqlite"))
        try volume.fill(leaving: 0)
        store = try await open(on: volume, isMeasured: false)
        await store.waitUntilHealed()
        #expect(store.statistics.entries > 100)
        #expect(await found(1...300, in: store).count == store.statistics.entries)
        await store.close()
    }
}
