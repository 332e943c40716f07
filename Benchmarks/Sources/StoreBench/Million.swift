import Foundation
import NIOCore
import DarkroomStore

/// A store of many small entries: four of each source, about 1 KB each with all labels.
struct Million {
    static let victim = "write-and-die"
    private static let entriesOfSource = 4

    let entries: Int
    let folder: String

    init(_ arguments: Arguments, entries: Int) {
        self.entries = arguments.entries ?? entries
        folder = arguments.command == Self.victim ? arguments.folder : arguments.folder + "/store-bench-\(getpid())"
    }

    func run() async throws {
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try await fill()
        let bytes = try await measureReady("closed properly")
        try kill()
        _ = try await measureReady("killed")
        try await measureHealing()
        try await measureLookUps()
        try await measureEviction(budgetBytes: bytes)
        try await measurePurge()
    }

    /// Opens, writes a little, and dies as by `kill -9`.
    func writeAndDie() async throws {
        let store = try await open(folder)
        await store.waitUntilHealed()
        for number in 0..<1000 { store.store(entry(-number), for: key(-number)) }
        await store.flush()
        Foundation.kill(getpid(), SIGKILL)
    }

    private func fill() async throws {
        let store = try await open(folder)
        let time = await seconds { await write(0..<entries, to: store) }
        report("entries", Double(store.statistics.entries), "")
        report("fill", Double(entries) / time, "writes/s")
        await store.close()
    }

    /// - Returns: the bytes held.
    private func measureReady(_ name: String) async throws -> Int {
        var store: DiskStore?
        let time = try await seconds { store = try await reopen() }
        report("ready, \(name)", time * 1000, "ms")
        let first = await seconds { _ = await store?.entry(for: key(1)) }
        report("first look-up, \(name)", first * 1000, "ms")
        defer { store = nil }
        let bytes = store?.statistics.bytes ?? 0
        if name != "killed" { await store?.close() }
        return bytes
    }

    private func kill() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = [Self.victim, "--folder", folder]
        try process.run()
        process.waitUntilExit()
    }

    private func measureHealing() async throws {
        let store = try await reopen()
        let time = await seconds { await store.waitUntilHealed() }
        report("index and files compared, behind the scenes", time, "s")
        await store.close()
    }

    /// The store before this one may still be closing.
    private func reopen() async throws -> DiskStore {
        while true {
            do { return try await open(folder) } catch DiskStoreError.inUse { await Task.yield() }
        }
    }

    private func measureLookUps() async throws {
        let store = try await open(folder)
        let count = 50_000
        let time = await seconds {
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        var random = SystemRandomNumberGenerator()
                        for _ in 0..<(count / 8) {
                            _ = await store.entry(for: key(.random(in: 0..<entries, using: &random)))
                        }
                    }
                }
            }
        }
        await store.flush()
        report("look-ups", Double(store.statistics.hits) / time, "/s")
        report("look-ups that missed", Double(store.statistics.misses), "")
        await store.close()
    }

    /// From one time that the budget is reached to the second next, so that as much is evicted as is written.
    private func measureEviction(budgetBytes: Int) async throws {
        let store = try await open(folder, budgetBytes: budgetBytes)
        await store.flush()
        var next = try await writeUntilEviction(entries, store)
        let before = store.statistics
        let first = next
        let time = try await seconds {
            for _ in 0..<2 { next = try await writeUntilEviction(next, store) }
        }
        let after = store.statistics
        report("writes at the budget", Double(next - first) / time, "/s")
        report("evictions at the budget", Double(after.evictions - before.evictions) / time, "/s")
        report("over the budget afterwards", Double(max(0, after.bytes - budgetBytes)), "bytes")
        report("writes refused or failed", Double(after.droppedWrites), "")
        await store.close()
    }

    /// Writes entries from this number on until others were evicted for them.
    /// - Returns: the next number.
    private func writeUntilEviction(_ first: Int, _ store: DiskStore) async throws -> Int {
        let evictions = store.statistics.evictions
        var next = first
        while store.statistics.evictions == evictions {
            await write(next..<next + 1000, to: store)
            next += 1000
        }
        return next
    }

    private func measurePurge() async throws {
        let store = try await open(folder)
        let source = StoreKey(hashing: "many variants".utf8)
        for number in 0..<1000 {
            let key = EntryKey(source: source, entry: StoreKey(hashing: "variant \(number)".utf8))
            store.store(entry(number), for: key)
        }
        await store.flush()
        let purge = await seconds { await store.removeAll(ofSources: [source]) }
        report("purge of a source with 1000 variants", purge * 1000, "ms")
        var found = 0
        let search = await seconds {
            found = await store.sources(matching: .prefix("url:https://example.com/12")).count
        }
        report("search by prefix, \(found) sources", search * 1000, "ms")
        let all = await seconds { _ = await store.removeEverything() }
        report("purge of everything", all * 1000, "ms")
        await store.close()
    }

    private func write(_ numbers: Range<Int>, to store: DiskStore) async {
        for number in numbers {
            while !store.store(entry(number), for: key(number)) { await store.flush() }
        }
        await store.flush()
    }

    private func key(_ number: Int) -> EntryKey {
        EntryKey(
            source: StoreKey(hashing: "source \(number / Self.entriesOfSource)".utf8),
            entry: StoreKey(hashing: "entry \(number)".utf8))
    }

    private func entry(_ number: Int) -> StoredEntry {
        let source = number / Self.entriesOfSource
        return StoredEntry(
            body: ByteBuffer(repeating: UInt8(truncatingIfNeeded: number), count: 600),
            metadata: ByteBuffer(repeating: 1, count: 200),
            labels: ["url:https://example.com/\(source)/picture.jpg", "host:example.com"])
    }
}
