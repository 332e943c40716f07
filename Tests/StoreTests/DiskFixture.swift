import Foundation
import GRDB
import Logging
import NIOCore
import Synchronization
import Testing

@testable import Store

/// A disk store's surroundings in a test: its folder, clock, volume and log.
final class DiskFixture: Sendable {
    let folder: TemporaryFolder
    let log = LogRecorder()
    let clock = ManualClock()
    let volume = Mutex(0.5)
    let budgetBytes: Int

    init(budgetBytes: Int = 1 << 20) throws {
        folder = try TemporaryFolder()
        self.budgetBytes = budgetBytes
    }

    /// Opens a store on the folder; the configuration can be changed first.
    func open(_ change: (inout DiskStore.Configuration) -> Void = { _ in }) async throws(StoreError) -> DiskStore {
        var configuration = DiskStore.Configuration(directory: folder.path)
        configuration.budgetBytes = budgetBytes
        change(&configuration)
        return try await DiskStore(
            configuration, logger: log.logger, now: { [clock] in clock.now },
            freeFraction: { [self] _ in volume.withLock { $0 } })
    }

    /// Runs SQL on the index.
    func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: folder("index.sqlite"))
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// How many rows the index has.
    func rowCount() throws -> Int {
        let queue = try DatabaseQueue(path: folder("index.sqlite"))
        defer { try? queue.close() }
        return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM entry") } ?? 0
    }

    /// The name of an entry's file, from the folder.
    static func file(of key: EntryKey) -> String {
        let source = key.source.hex
        return "entries/\(source.prefix(2))/\(source.dropFirst(2).prefix(2))/\(source)/\(key.entry.hex)"
    }
}

/// A clock that stands still until it's told.
final class ManualClock: Sendable {
    private let seconds = Mutex(1_700_000_000.0)

    var now: Date { Date(timeIntervalSince1970: seconds.withLock { $0 }) }

    func advance(bySeconds step: Double = 1) {
        seconds.withLock { $0 += step }
    }
}

/// The key of a numbered entry of a numbered source.
func key(_ source: Int, _ entry: Int = 0) -> EntryKey {
    EntryKey(
        source: StoreKey(hashing: "source \(source)".utf8), entry: StoreKey(hashing: "entry \(source).\(entry)".utf8))
}

/// An entry of `bodyBytes` bytes, all of them `filler`.
func entry(_ bodyBytes: Int = 1000, filler: UInt8 = 7, metadata: String = "notes") -> StoredEntry {
    StoredEntry(
        body: ByteBuffer(repeating: filler, count: bodyBytes), metadata: ByteBuffer(string: metadata))
}
