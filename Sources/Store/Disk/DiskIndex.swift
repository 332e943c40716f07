import Foundation
import GRDB
import NIOCore

/// The index of a disk store: a table of its entries in SQLite. All calls block; writes come from one thread.
final class DiskIndex: Sendable {
    /// Raised with a change of the tables that other versions of the program cannot read. An index of another version
    /// is rebuilt from the files, which have no entries without a body.
    private static let schemaVersion = 4
    /// The time after which index and files are compared again even if nothing suggests a difference.
    static let reconciliationInterval = Duration.seconds(7 * 24 * 60 * 60)

    /// The state of the index when it was opened.
    struct Condition: Sendable {
        var totals: StoreTotals
        /// Whether index and files may disagree: the last process ended without closing the index, the comparison after
        /// that was never completed, or the last comparison was long ago.
        var isReconciliationDue: Bool
    }

    /// The clock that stamps entries.
    let clock: MonotonicClock
    let condition: Condition
    let keys = KeyFilter()
    let pool: DatabasePool
    let lookups: LookupConnections

    /// Opens the index or creates an empty index. The time does not depend on the number of entries.
    ///
    /// Throws if the file has another format or version, or if it is visibly corrupt; corruption inside shows when it
    /// is read. Until `close()`, the index counts as not closed properly.
    ///
    /// - Parameters:
    ///   - logPages: the pages in the log from which on it is merged into the file.
    ///   - mustReconcile: compares index and files in any case.
    init(
        path: String, logPages: Int = DiskIndex.maximumLogPages, mustReconcile: Bool = false,
        clock makeClock: (_ last: Int64) -> MonotonicClock
    ) throws(StorageError) {
        (pool, lookups, clock, condition) = try Self.attempt("open index") {
            var configuration = Configuration()
            configuration.label = "darkroom.store.index"
            // Another tool may have the index open.
            configuration.busyMode = .timeout(2)
            // For the writer's thread; lookups have connections of their own.
            configuration.maximumReaderCount = 1
            configuration.prepareDatabase {
                try $0.execute(sql: "PRAGMA wal_autocheckpoint = \(logPages)")
                // A long transaction makes the log longer; later ones truncate it again.
                try $0.execute(sql: "PRAGMA journal_size_limit = \(DiskIndex.logBytes(pages: logPages))")
                try Self.setPageCache(Self.pageCacheKiB, in: $0)
            }
            let pool = try DatabasePool(path: path, configuration: configuration)
            do {
                let (clock, condition) = try pool.write { try Self.begin($0, makeClock, mustReconcile) }
                return (pool, try LookupConnections(path, configuration), clock, condition)
            } catch {
                try? pool.close()
                throw error
            }
        }
    }

    /// Marks the index as closed properly and closes it, after reads in progress; later calls throw.
    func close() {
        try? pool.write { database in
            try database.execute(sql: "UPDATE state SET is_closed = 1, time = ?", arguments: [clock.microseconds])
        }
        // The pool closes its read-only connections last, and they can't merge the log.
        try? pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        abandon()
    }

    /// Closes the index without the mark, after reads in progress; later calls throw.
    func abandon() {
        lookups.close()
        try? pool.close()
    }

    /// Runs queries.
    func read<Value>(_ operation: String, _ body: (Database) throws -> Value) throws(StorageError) -> Value {
        try Self.attempt(operation) { try pool.unsafeRead(body) }
    }

    /// Runs a transaction.
    func write<Value>(_ operation: String, _ body: (Database) throws -> Value) throws(StorageError) -> Value {
        try Self.attempt(operation) { try pool.write(body) }
    }

    /// Merges the log into the file, which frees its space.
    func truncateLog() throws(StorageError) {
        try Self.attempt("merge log") { _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
    }

    /// The size of the file, and how much of it is in use. The file keeps the pages of deleted rows for new ones.
    func measure() throws(StorageError) -> (allBytes: Int, usedBytes: Int) {
        try Self.attempt("measure") {
            try pool.writeWithoutTransaction { database in
                let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
                let unused = try Int.fetchOne(database, sql: "PRAGMA freelist_count") ?? 0
                return (pages * Self.pageBytes, (pages - unused) * Self.pageBytes)
            }
        }
    }

    /// Runs `body`, and translates errors of SQLite.
    static func attempt<Value>(_ operation: String, _ body: () throws -> Value) throws(StorageError) -> Value {
        do {
            return try body()
        } catch let error as StorageError {
            throw error
        } catch {
            let result = (error as? DatabaseError)?.resultCode
            throw StorageError(
                operation: operation, reason: String(describing: error), code: result == .SQLITE_FULL ? ENOSPC : nil,
                isCorruption: [.SQLITE_CORRUPT, .SQLITE_NOTADB].contains(result))
        }
    }
}

// The page cache of each connection, in addition to the system's.
extension DiskIndex {
    /// A quarter of SQLite's default.
    private static let pageCacheKiB = 512
    private static let largePageCacheKiB = 16 << 10

    private static func setPageCache(_ size: Int, in database: Database) throws {
        try database.execute(sql: "PRAGMA cache_size = \(-size)")
    }

    /// Runs changes of many rows in a transaction that writes each page once. With few pages in memory, a page in which
    /// several of the rows lie is written anew for each of them.
    static func withLargePageCache<Value>(_ database: Database, _ body: () throws -> Value) throws -> Value {
        try setPageCache(largePageCacheKiB, in: database)
        let result = Result { try body() }
        try setPageCache(pageCacheKiB, in: database)
        return try result.get()
    }
}

// The log.
extension DiskIndex {
    private static let pageBytes = 4096
    /// Few and large merges, since they sync to the device. After a crash, at most 16 MiB are read.
    static let maximumLogPages = 4000

    /// The pages in the log from which on it is merged: a small share of the budget.
    static func logPages(budgetBytes: Int) -> Int {
        min(max(budgetBytes / 256 / pageBytes, 16), maximumLogPages)
    }

    /// The size of a log of so many pages; each has a header.
    static func logBytes(pages: Int) -> Int { 32 + pages * (pageBytes + 24) }
}

// Opening.
extension DiskIndex {
    private static func begin(
        _ database: Database, _ makeClock: (_ last: Int64) -> MonotonicClock, _ mustReconcile: Bool
    ) throws -> (MonotonicClock, Condition) {
        try prepare(database)
        guard
            let state = try Row.fetchOne(database, sql: "SELECT entries, bytes, time, is_closed, reconciled FROM state")
        else { throw corruption("the state row is missing") }
        // A row may have any value, but totals must not overflow, nor make the store evict everything or allocate a
        // filter for entries that do not exist.
        let totals = StoreTotals(
            entries: Int.fromDatabaseValue(state[0]) ?? -1, bytes: Int.fromDatabaseValue(state[1]) ?? -1)
        let maximumEntries = try maximumEntries(in: database)
        guard 0...maximumEntries ~= totals.entries, 0...(1 << 50) ~= totals.bytes,
            totals.entries > 0 || totals.bytes == 0
        else { throw corruption("the totals are implausible") }
        let clock = makeClock(Int64.fromDatabaseValue(state[2]) ?? 0)
        let now = clock.microseconds
        let wasClosed = !mustReconcile && Int64.fromDatabaseValue(state[3]) == 1
        let reconciled = wasClosed ? Int64.fromDatabaseValue(state[4]) ?? 0 : 0
        let age = now.subtractingReportingOverflow(reconciled).partialValue
        try database.execute(
            sql: "UPDATE state SET is_closed = 0, time = ?, reconciled = ?", arguments: [now, reconciled])
        let isDue = reconciled == 0 || age < 0 || age > reconciliationInterval.microseconds
        return (clock, Condition(totals: totals, isReconciliationDue: isDue))
    }

    /// The most entries that the file can hold: each has at least two keys and a checksum.
    private static func maximumEntries(in database: Database) throws -> Int {
        let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        let pageBytes = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 0
        return pages * pageBytes / (3 * StoreKey.byteCount)
    }

    private static func prepare(_ database: Database) throws {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
        if version == 0 && isEmpty { return try createTables(database) }
        guard version == schemaVersion else {
            throw corruption("the schema version is \(version), not \(schemaVersion)")
        }
        try createLaterUses(database)
        do {
            // Fails unless the tables have these columns.
            for columns in [
                "source, entry, size, checksum, labels, content, is_restored, created, modified, last_use FROM entry",
                "key, time FROM later_use",
                "label, source, entries FROM label",
                "entries, bytes, time, is_closed, reconciled FROM state",
            ] { _ = try database.makeStatement(sql: "SELECT \(columns)") }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw corruption(error.message ?? "a table is missing")
        }
    }

    private static func corruption(_ reason: String) -> StorageError {
        StorageError(operation: "open index", reason: reason, isCorruption: true)
    }

    /// `entry.size` is the size of the file, 0 without one; `entry.labels` is the list as in the file, `entry.content`
    /// the metadata of an entry without a file; `later_use` has times of uses after `entry.last_use`, under the last
    /// eight bytes of the entry's key; `label` counts the entries of a source with a label; `state.bytes` counts whole
    /// blocks. Each index costs a write for each entry.
    private static func createTables(_ database: Database) throws {
        try createLaterUses(database)
        try database.execute(
            sql: """
                CREATE TABLE entry (
                    source BLOB NOT NULL,
                    entry BLOB NOT NULL,
                    size INTEGER NOT NULL,
                    checksum BLOB NOT NULL,
                    labels BLOB NOT NULL,
                    content BLOB,
                    is_restored INTEGER NOT NULL,
                    created INTEGER NOT NULL,
                    modified INTEGER NOT NULL,
                    last_use INTEGER NOT NULL,
                    PRIMARY KEY (source, entry)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX entry_by_last_use ON entry (last_use, size);
                CREATE TABLE label (
                    label BLOB NOT NULL,
                    source BLOB NOT NULL,
                    entries INTEGER NOT NULL,
                    PRIMARY KEY (label, source)
                ) STRICT, WITHOUT ROWID;
                CREATE TABLE state (
                    entries INTEGER NOT NULL,
                    bytes INTEGER NOT NULL,
                    time INTEGER NOT NULL,
                    is_closed INTEGER NOT NULL,
                    reconciled INTEGER NOT NULL
                ) STRICT;
                INSERT INTO state VALUES (0, 0, 0, 0, 0);
                PRAGMA user_version = \(schemaVersion);
                """)
    }

    /// Apart from the other tables, because indices of earlier builds are without it.
    private static func createLaterUses(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE IF NOT EXISTS later_use (
                    key BLOB NOT NULL PRIMARY KEY,
                    time INTEGER NOT NULL
                ) STRICT, WITHOUT ROWID
                """)
    }
}
