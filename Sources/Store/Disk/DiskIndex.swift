import Foundation
import GRDB
import NIOCore

/// The table of a disk store's entries in SQLite. All calls block; writes come from one thread.
struct DiskIndex: Sendable {
    /// Raised with every change of the tables; an index of another version is made again from the files.
    private static let schemaVersion = 2
    /// So long after they last did, index and files are compared again even if nothing points to a difference.
    static let reconciliationInterval = Duration.seconds(7 * 24 * 60 * 60)

    /// What the index said of itself when it was opened.
    struct Condition: Sendable {
        var totals: StoreTotals
        /// Whether index and files may differ: the last process ended without closing the index, the comparison that
        /// this makes necessary never came to its end, or the last one was long ago.
        var isReconciliationDue: Bool
    }

    /// The time that entries are stamped with.
    let clock: StoreClock
    /// As it was when the index was opened.
    let condition: Condition
    let pool: DatabasePool

    /// Opens the index or makes an empty one, in the same time however many entries it has.
    ///
    /// Throws if what is there is another's or of another version, or so damaged that it shows at once; damage within
    /// is met when it's read. Until `close()` the index counts as not closed properly.
    init(path: String, readers: Int, clock makeClock: (_ last: Int64) -> StoreClock) throws(StorageFault) {
        (pool, clock, condition) = try Self.attempt("open index") {
            var configuration = Configuration()
            configuration.label = "darkroom.store.index"
            // Should someone look into the index with a tool of theirs.
            configuration.busyMode = .timeout(2)
            // The writer's thread reads too.
            configuration.maximumReaderCount = readers + 1
            configuration.prepareDatabase {
                // Fewer, larger checkpoints: they are what is synced to the device. 16 MiB at most are read after a
                // crash.
                try $0.execute(sql: "PRAGMA wal_autocheckpoint = 4000")
            }
            let pool = try DatabasePool(path: path, configuration: configuration)
            do {
                let (clock, condition) = try pool.write { try Self.begin($0, makeClock) }
                return (pool, clock, condition)
            } catch {
                try? pool.close()
                throw error
            }
        }
    }

    /// Notes that all is in order, and waits for reads in progress; later calls throw.
    func close() {
        try? pool.write { database in
            try database.execute(sql: "UPDATE state SET is_closed = 1, time = ?", arguments: [clock.microseconds])
        }
        // The pool closes its readers last, and those can't merge the log.
        try? pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        abandon()
    }

    /// Waits for reads in progress; later calls throw.
    func abandon() {
        try? pool.close()
    }

    /// Runs `body`, and says what went wrong in our words.
    static func attempt<Value>(_ operation: String, _ body: () throws -> Value) throws(StorageFault) -> Value {
        do {
            return try body()
        } catch let fault as StorageFault {
            throw fault
        } catch {
            throw StorageFault(
                operation: operation, reason: String(describing: error),
                isDamage: (error as? DatabaseError).map(isDamage) ?? false)
        }
    }

    private static func isDamage(_ error: DatabaseError) -> Bool {
        switch error.resultCode {
        case .SQLITE_CORRUPT, .SQLITE_NOTADB: true
        default: false
        }
    }
}

// What happens when the index is opened.
extension DiskIndex {
    private static func begin(
        _ database: Database, _ makeClock: (_ last: Int64) -> StoreClock
    ) throws -> (StoreClock, Condition) {
        try prepare(database)
        guard
            let state = try Row.fetchOne(database, sql: "SELECT entries, bytes, time, is_closed, reconciled FROM state")
        else { throw damage("it says nothing of itself") }
        // A row may say anything, but sums must not overflow, nor make us evict all that there is.
        let totals = StoreTotals(
            entries: Int.fromDatabaseValue(state[0]) ?? -1, bytes: Int.fromDatabaseValue(state[1]) ?? -1)
        guard 0...(1 << 40) ~= totals.entries, 0...(1 << 50) ~= totals.bytes,
            (totals.entries == 0) == (totals.bytes == 0)
        else { throw damage("its sums make no sense") }
        let clock = makeClock(Int64.fromDatabaseValue(state[2]) ?? 0)
        let now = clock.microseconds
        let wasClosed = Int64.fromDatabaseValue(state[3]) == 1
        let reconciled = wasClosed ? Int64.fromDatabaseValue(state[4]) ?? 0 : 0
        let age = now.subtractingReportingOverflow(reconciled).partialValue
        try database.execute(
            sql: "UPDATE state SET is_closed = 0, time = ?, reconciled = ?", arguments: [now, reconciled])
        let isDue = reconciled == 0 || age < 0 || age > reconciliationInterval.microseconds
        return (clock, Condition(totals: totals, isReconciliationDue: isDue))
    }

    private static func prepare(_ database: Database) throws {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
        if version == 0 && isEmpty { return try createTables(database) }
        guard version == schemaVersion else { throw damage("its schema version is \(version), not \(schemaVersion)") }
        do {
            // Fails unless the tables have these columns.
            for columns in [
                "id, source, entry, size, checksum, labels, created, modified, last_use FROM entry",
                "label, source, entries FROM label",
                "entries, bytes, time, is_closed, reconciled FROM state",
            ] { _ = try database.makeStatement(sql: "SELECT \(columns)") }
        } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
            throw damage(error.message ?? "it lacks a table")
        }
    }

    private static func damage(_ reason: String) -> StorageFault {
        StorageFault(operation: "open index", reason: reason, isDamage: true)
    }

    /// `entry.labels` is the list as in the file; `label` counts the entries of a source that have a label.
    private static func createTables(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE entry (
                    id INTEGER PRIMARY KEY,
                    source BLOB NOT NULL,
                    entry BLOB NOT NULL,
                    size INTEGER NOT NULL,
                    checksum BLOB NOT NULL,
                    labels BLOB NOT NULL,
                    created INTEGER NOT NULL,
                    modified INTEGER NOT NULL,
                    last_use INTEGER NOT NULL
                ) STRICT;
                CREATE UNIQUE INDEX entry_by_key ON entry (source, entry);
                CREATE INDEX entry_by_creation ON entry (created);
                CREATE INDEX entry_by_modification ON entry (modified);
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
}
