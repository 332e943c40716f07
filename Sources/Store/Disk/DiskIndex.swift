import Foundation
import GRDB
import NIOCore

/// The table of a disk store's entries in SQLite. All calls block; writes come from one thread.
struct DiskIndex: Sendable {
    /// Raised with every change of the table; an index of another version is made again from the files.
    private static let schemaVersion = 1

    private let pool: DatabasePool

    /// Opens the index or makes an empty one. Throws if what is there is damaged or of another version.
    init(path: String, readers: Int) throws(StorageFault) {
        pool = try Self.attempt("open index") {
            var configuration = Configuration()
            configuration.label = "darkroom.store.index"
            // The writer's thread reads too.
            configuration.maximumReaderCount = readers + 1
            let pool = try DatabasePool(path: path, configuration: configuration)
            do {
                try pool.write(Self.prepare)
            } catch {
                try? pool.close()
                throw error
            }
            return pool
        }
    }

    /// Waits for reads in progress; later calls throw.
    func close() {
        // The pool closes its readers last, and those can't merge the log.
        try? pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try? pool.close()
    }

    /// The entry's record, or nil if there is none.
    func record(for key: EntryKey) throws(StorageFault) -> EntryRecord? {
        try Self.attempt("look up") {
            try pool.unsafeRead { database in
                let select = try database.cachedStatement(
                    sql: "SELECT size, checksum, metadata, created FROM entry WHERE source = ? AND entry = ?")
                guard
                    let row = try Row.fetchOne(select, arguments: key.arguments),
                    let checksum = Data.fromDatabaseValue(row[1]),
                    let metadata = Data.fromDatabaseValue(row[2]),
                    let created = Int64.fromDatabaseValue(row[3])
                else { return nil }
                return EntryRecord(
                    key: key, checksum: Array(checksum), metadata: ByteBuffer(bytes: metadata),
                    bodyBytes: fileBytes(row[0]) - EntryRecord.fileBytes(body: 0, metadata: metadata.count),
                    created: created)
            }
        }
    }

    /// Sets the record of an entry, in place of one that is there.
    /// - Returns: what changed in the sums.
    func put(_ record: EntryRecord) throws(StorageFault) -> DiskTotals {
        try Self.attempt("index") {
            try pool.write { try Self.put(record, in: $0) }
        }
    }

    /// Deletes the records of these entries.
    /// - Returns: what changed in the sums.
    func delete(_ keys: some Sequence<EntryKey>) throws(StorageFault) -> DiskTotals {
        try Self.attempt("delete from index") {
            try pool.write { try Self.delete(keys, in: $0) }
        }
    }

    /// Deletes the records of all entries of a source.
    /// - Returns: what changed in the sums.
    func deleteAll(ofSource source: StoreKey) throws(StorageFault) -> DiskTotals {
        try Self.attempt("delete from index") {
            try pool.write { database in
                let rows = try Row.fetchAll(
                    database, sql: "SELECT source, entry FROM entry WHERE source = ?", arguments: [source.data])
                return try Self.delete(rows.compactMap(EntryKey.init(row:)), in: database)
            }
        }
    }

    /// Notes when entries were last used, in microseconds since 1970.
    func setLastUses(_ uses: [EntryKey: Int64]) throws(StorageFault) {
        try Self.attempt("note uses") {
            try pool.write { database in
                let update = try database.cachedStatement(
                    sql: "UPDATE entry SET last_use = ? WHERE source = ? AND entry = ?")
                for (key, time) in uses {
                    try update.execute(arguments: [time] + key.arguments)
                }
            }
        }
    }

    /// The entries that were not used for longest, oldest first, with their sizes.
    func leastRecentlyUsed(limit: Int) throws(StorageFault) -> [(key: EntryKey, bytes: Int)] {
        try Self.attempt("look for old entries") {
            try pool.read { database in
                try Row.fetchAll(
                    database, sql: "SELECT source, entry, size FROM entry ORDER BY last_use LIMIT ?", arguments: [limit]
                ).compactMap { row in EntryKey(row: row).map { ($0, fileBytes(row[2])) } }
            }
        }
    }

    /// The sizes of all entries whose source's key begins with this byte.
    func sizes(ofSourcesBeginningWith byte: UInt8) throws(StorageFault) -> [EntryKey: Int] {
        try Self.attempt("list") {
            try pool.read { database in
                let end = byte == .max ? Data(repeating: .max, count: StoreKey.byteCount + 1) : Data([byte + 1])
                let rows = try Row.fetchAll(
                    database, sql: "SELECT source, entry, size FROM entry WHERE source >= ? AND source < ?",
                    arguments: [Data([byte]), end])
                return rows.reduce(into: [:]) { sizes, row in
                    if let key = EntryKey(row: row) { sizes[key] = fileBytes(row[2]) }
                }
            }
        }
    }

    /// Sets and deletes records in one transaction.
    func apply(puts: [EntryRecord], deletes: [EntryKey]) throws(StorageFault) {
        try Self.attempt("heal index") {
            try pool.write { database in
                _ = try Self.delete(deletes, in: database)
                for record in puts { _ = try Self.put(record, in: database) }
            }
        }
    }

    /// How many entries there are, and their sizes' sum.
    func totals() throws(StorageFault) -> DiskTotals {
        try Self.attempt("sum up") {
            try pool.read { database in
                let row = try Row.fetchOne(database, sql: "SELECT count(*), coalesce(sum(size), 0) FROM entry")
                return DiskTotals(
                    entries: row.flatMap { Int.fromDatabaseValue($0[0]) } ?? 0,
                    bytes: row.flatMap { Int.fromDatabaseValue($0[1]) } ?? 0)
            }
        }
    }
}

// What happens inside a transaction.
extension DiskIndex {
    private static func prepare(_ database: Database) throws {
        let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
        let isEmpty = try Int.fetchOne(database, sql: "SELECT count(*) FROM sqlite_master") == 0
        if version == 0 && isEmpty { return try createTable(database) }
        guard version == schemaVersion else {
            throw StorageFault(
                operation: "open index", reason: "its schema version is \(version), not \(schemaVersion)")
        }
        let check = try String.fetchOne(database, sql: "PRAGMA quick_check(1)")
        guard check == "ok" else { throw StorageFault(operation: "check index", reason: check ?? "no answer") }
        // Fails unless the table has these columns.
        _ = try database.makeStatement(
            sql: "SELECT source, entry, size, checksum, metadata, created, last_use FROM entry")
    }

    private static func createTable(_ database: Database) throws {
        try database.execute(
            sql: """
                CREATE TABLE entry (
                    source BLOB NOT NULL,
                    entry BLOB NOT NULL,
                    size INTEGER NOT NULL,
                    checksum BLOB NOT NULL,
                    metadata BLOB NOT NULL,
                    created INTEGER NOT NULL,
                    last_use INTEGER NOT NULL,
                    PRIMARY KEY (source, entry)
                ) STRICT, WITHOUT ROWID;
                CREATE INDEX entry_by_last_use ON entry (last_use);
                PRAGMA user_version = \(schemaVersion);
                """)
    }

    private static func put(_ record: EntryRecord, in database: Database) throws -> DiskTotals {
        var change = try delete(CollectionOfOne(record.key), in: database)
        try database.cachedStatement(
            sql: """
                INSERT INTO entry (source, entry, size, checksum, metadata, created, last_use) VALUES (?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: record.key.arguments + [
                record.fileBytes, Data(record.checksum), Data(record.metadata.readableBytesView), record.created,
                record.created,
            ])
        change.entries += 1
        change.bytes += record.fileBytes
        return change
    }

    private static func delete(_ keys: some Sequence<EntryKey>, in database: Database) throws -> DiskTotals {
        let delete = try database.cachedStatement(
            sql: "DELETE FROM entry WHERE source = ? AND entry = ? RETURNING size")
        var change = DiskTotals()
        for key in keys {
            guard let row = try Row.fetchOne(delete, arguments: key.arguments) else { continue }
            change.entries -= 1
            change.bytes -= fileBytes(row[0])
        }
        return change
    }

    private static func attempt<Value>(_ operation: String, _ body: () throws -> Value) throws(StorageFault) -> Value {
        do {
            return try body()
        } catch let fault as StorageFault {
            throw fault
        } catch {
            throw StorageFault(operation: operation, reason: String(describing: error))
        }
    }
}

/// The size in a row. A damaged row may say anything, but sums must not overflow: no file is larger than 2^40 bytes.
private func fileBytes(_ value: DatabaseValue) -> Int {
    min(max(0, Int.fromDatabaseValue(value) ?? 0), 1 << 40)
}

extension StoreKey {
    fileprivate var data: Data { Data(bytes) }
}

extension EntryKey {
    fileprivate var arguments: StatementArguments { [source.data, entry.data] }

    /// The key in a row that begins with source and entry.
    fileprivate init?(row: Row) {
        guard
            let source = Data.fromDatabaseValue(row[0]).flatMap(StoreKey.init(digest:)),
            let entry = Data.fromDatabaseValue(row[1]).flatMap(StoreKey.init(digest:))
        else { return nil }
        self.init(source: source, entry: entry)
    }
}
