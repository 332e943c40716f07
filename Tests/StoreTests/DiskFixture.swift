import DarkroomTestClock
import DarkroomTestLogs
import Foundation
import GRDB
import Logging
import NIOCore
import Synchronization
import Testing

@testable import DarkroomStore

/// The surroundings of a disk store in a test: folder, clock, volume and log.
final class DiskFixture: Sendable {
    let folder: TemporaryFolder
    let log = LogRecorder()
    let clock = TestClock(date: Date(timeIntervalSince1970: 1_700_000_000))
    /// The free share of the volume that stores are told; nil = the system is asked.
    let volume = Mutex<Double?>(0.5)
    let budgetBytes: Int

    init(budgetBytes: Int = 1 << 24) throws {
        folder = try TemporaryFolder()
        self.budgetBytes = budgetBytes
    }

    /// Opens a store on the folder; the configuration can be changed first.
    func open(_ change: (inout DiskStore.Configuration) -> Void = { _ in }) async throws(DiskStoreError) -> DiskStore {
        var configuration = DiskStore.Configuration(directory: folder.path)
        configuration.budgetBytes = budgetBytes
        change(&configuration)
        return try await DiskStore(
            configuration, logger: log.logger, now: { [clock] in clock.date }, uptime: { [clock] in clock.elapsed },
            freeFraction: { [self] in volume.withLock(\.self) ?? DiskStore.freeFraction(ofVolume: $0) })
    }

    /// Opens a store, and returns it once index and files agree.
    func openHealed(_ change: (inout DiskStore.Configuration) -> Void = { _ in }) async throws(DiskStoreError)
        -> DiskStore
    {
        let store = try await open(change)
        await store.waitUntilHealed()
        await store.flush()
        return store
    }

    /// Makes the folder of a closed store look like the folder of one that was killed.
    func forgetClosing() throws {
        try execute("UPDATE state SET is_closed = 0")
    }

    /// Runs SQL on the index.
    func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: folder("index.sqlite"))
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// The number of rows in the index that fulfill a condition.
    func rowCount(where condition: String = "true") throws -> Int {
        let queue = try DatabaseQueue(path: folder("index.sqlite"))
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM entry WHERE \(condition)") } ?? 0
    }

    /// The number of transactions in the log of the index since its last checkpoint. The header is 32 bytes; each page
    /// has 24 bytes before it, of which the second four aren't 0 at a transaction's end and the next eight repeat the
    /// header's salt unless they are from before.
    func transactionCount() throws -> Int {
        let log = Array(try folder.bytes("index.sqlite-wal"))
        guard log.count > 32 else { return 0 }
        return stride(from: 32, to: log.count, by: 24 + 4096).count { start in
            log[(start + 8)..<(start + 16)] == log[16..<24] && log[(start + 4)..<(start + 8)] != [0, 0, 0, 0]
        }
    }

    /// The bytes that the files of entries take, in whole blocks.
    func entryBlocks() throws -> Int {
        try folder.files(below: "entries").map { blocks(try folder.bytes($0).count) }.reduce(0, +)
    }

    /// Copies the folder as a crash would leave it: nothing closed, the index's log not merged.
    func crashed() throws -> DiskFixture {
        let copy = try DiskFixture(budgetBytes: budgetBytes)
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
            try FileManager.default.copyItem(atPath: folder(name), toPath: copy.folder(name))
        }
        return copy
    }

    /// The name of an entry's file, from the folder.
    static func file(of key: EntryKey) -> String {
        "\(folder(of: key))/\(key.source.hex)\(key.entry.hex)"
    }

    /// The name of the folder that an entry's file is in, from the cache directory.
    static func folder(of key: EntryKey) -> String {
        "entries/\(key.source.hex.prefix(3))"
    }
}

/// The key of a numbered entry of a numbered source.
func key(_ source: Int, _ entry: Int = 0) -> EntryKey {
    EntryKey(
        source: StoreKey(hashing: "source \(source)".utf8), entry: StoreKey(hashing: "entry \(source).\(entry)".utf8))
}

/// An entry of `bodyBytes` bytes, all of them `filler`.
func entry(
    _ bodyBytes: Int = 1000, filler: UInt8 = 7, metadata: String = "notes", labels: [String] = []
) -> StoredEntry {
    StoredEntry(
        body: ByteBuffer(repeating: filler, count: bodyBytes), metadata: ByteBuffer(string: metadata), labels: labels)
}

/// What a file of this size takes.
func blocks(_ fileBytes: Int) -> Int { (fileBytes + 4095) / 4096 * 4096 }

/// The size of the file of an entry with this much in it, without labels.
func fileBytes(body: Int, metadata: Int) -> Int { EntryHeader.fixedBytes + metadata + body }
