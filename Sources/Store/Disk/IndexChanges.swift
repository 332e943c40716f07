import Foundation
import GRDB
import NIOCore

// Transactions. Each also updates the totals, and returns their change, except for `recordUses`, `setLastUses` and
// `endReconciliation`.
extension DiskIndex {
    /// Deletes the records of entries, then inserts or replaces records.
    func apply(puts: [EntryRecord] = [], deletes: [EntryKey] = []) throws(StorageError) -> StoreTotals {
        let areNew = puts.map { keys.insert($0.key) }
        return try change("write index") { database in
            var change = StoreTotals()
            for key in deletes { change += try Self.delete(key, in: database) }
            var counts: [StoreKey: [[UInt8]: Int]] = [:]
            for (record, isNew) in zip(puts, areNew) {
                change += try Self.put(
                    record, isNew: isNew, usedBy: clock.microseconds, counting: &counts, in: database)
            }
            try Self.count(counts, in: database)
            return change
        }
    }

    /// Deletes the records of all entries of these sources.
    ///
    /// In the order of their keys, neighbors share pages of the table. Their last uses and URLs lie on other pages, so
    /// that the more sources are deleted together, the fewer pages are written for each.
    func deleteAll(ofSources sources: some Sequence<StoreKey>) throws(StorageError) -> StoreTotals {
        try change("delete from index") { database in
            try Self.withLargePageCache(database) {
                var change = StoreTotals()
                for source in sources { change += try Self.deleteAll(ofSource: source, in: database) }
                return change
            }
        }
    }

    func deleteEverything() throws(StorageError) -> StoreTotals {
        try change("delete from index") { database in
            let held = try Self.totals(in: database, "SELECT entries, bytes FROM state")
            try database.execute(sql: "DELETE FROM label; DELETE FROM later_use; DELETE FROM entry")
            return -held
        }
    }

    /// Records the times of uses, in microseconds since 1970, apart from the rows of the entries: about 180 uses share
    /// a page, while a change of a row's last use writes two pages, of the table and of its order.
    func recordUses(_ uses: [EntryKey: Int64]) throws(StorageError) {
        try writeUses(uses.sorted { $0.key.entry.trailingWord < $1.key.entry.trailingWord }) { database in
            let insert = try database.cachedStatement(sql: "INSERT OR REPLACE INTO later_use (key, time) VALUES (?, ?)")
            return { key, time in try insert.execute(arguments: [key.useKey, time]) }
        }
    }

    /// Sets the times of the last uses in the rows of the entries, in microseconds since 1970.
    func setLastUses(_ uses: [EntryKey: Int64]) throws(StorageError) {
        try writeUses(uses.sorted { ($0.key.source, $0.key.entry) < ($1.key.source, $1.key.entry) }) { database in
            let update = try database.cachedStatement(
                sql: "UPDATE entry SET last_use = ? WHERE source = ? AND entry = ?")
            return { key, time in try update.execute(arguments: [time] + key.arguments) }
        }
    }

    /// In the order of the rows, all uses on a page are written together. Transactions of a limited size do not make
    /// the log longer than usual.
    private func writeUses(
        _ sorted: [(key: EntryKey, value: Int64)], _ prepare: (Database) throws -> (EntryKey, Int64) throws -> Void
    ) throws(StorageError) {
        for start in stride(from: 0, to: sorted.count, by: Self.usesPerTransaction) {
            _ = try change("write last uses") { database in
                let write = try prepare(database)
                for (key, time) in sorted[start...].prefix(Self.usesPerTransaction) { try write(key, time) }
                return StoreTotals()
            }
        }
    }

    private static let usesPerTransaction = 1024

    /// Records that the comparison of index and files is complete, and counts the entries.
    /// - Returns: the totals.
    func endReconciliation() throws(StorageError) -> StoreTotals {
        try write("end healing") { database in
            // A scan of this index alone, which is much smaller than the table. Counts as `blockBytes(_:)` does.
            let totals = try Self.totals(
                in: database,
                """
                SELECT count(*), coalesce(
                    sum((min(max(size, 0), \(Self.maximumSize)) + \(Self.blockSize - 1)) / \(Self.blockSize)), 0)
                    * \(Self.blockSize)
                FROM entry INDEXED BY entry_by_last_use
                """)
            try database.execute(
                sql: "UPDATE state SET entries = ?, bytes = ?, reconciled = ?",
                arguments: [totals.entries, totals.bytes, clock.microseconds])
            return totals
        }
    }

    private func change(
        _ operation: String, _ body: (Database) throws -> StoreTotals
    ) throws(StorageError) -> StoreTotals {
        try write(operation) { database in
            let change = try body(database)
            try database.cachedStatement(
                sql: "UPDATE state SET entries = entries + ?, bytes = bytes + ?, time = ?"
            ).execute(arguments: [change.entries, change.bytes, clock.microseconds])
            return change
        }
    }
}

// Parts of a transaction.
extension DiskIndex {
    /// An adopted file may have been written while the clock was ahead: it counts as used now, not in the future. A
    /// restored row replaces only an older restored row.
    ///
    /// - Parameters:
    ///   - isNew: whether the index is known to have no such row.
    ///   - counts: for each source, the change of the number of records with the same labels.
    private static func put(
        _ record: EntryRecord, isNew: Bool, usedBy now: Int64, counting counts: inout [StoreKey: [[UInt8]: Int]],
        in database: Database
    ) throws -> StoreTotals {
        let existing =
            isNew
            ? nil
            : try Row.fetchOne(
                database.cachedStatement(
                    sql: "SELECT size, labels, is_restored, modified FROM entry WHERE source = ? AND entry = ?"),
                arguments: record.key.arguments)
        if record.isRestored, let existing,
            Int64.fromDatabaseValue(existing[2]) == 0 || Int64.fromDatabaseValue(existing[3]) ?? .max >= record.modified
        {
            return StoreTotals()
        }
        let oldLabels = existing.flatMap { Data.fromDatabaseValue($0[1]) }.map(Array.init)
        let oldBytes = existing.map { blockBytes($0[0]) }
        let size = record.content == nil ? record.fileBytes : 0
        try database.cachedStatement(
            sql: """
                INSERT OR REPLACE INTO entry
                    (source, entry, size, checksum, labels, content, is_restored, created, modified, last_use)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
                """
        ).execute(
            arguments: record.key.arguments + [
                size, Data(record.checksum.bytes), Data(record.labels.bytes),
                record.content.map { Data($0.readableBytesView) }, record.isRestored ? 1 : 0, record.created,
                record.modified, min(record.modified, now),
            ])
        if oldLabels != record.labels.bytes {
            if let oldLabels { counts[record.key.source, default: [:]][oldLabels, default: 0] -= 1 }
            counts[record.key.source, default: [:]][record.labels.bytes, default: 0] += 1
        }
        return StoreTotals(entries: oldBytes == nil ? 1 : 0, bytes: blockBytes(size.databaseValue) - (oldBytes ?? 0))
    }

    private static func delete(_ key: EntryKey, in database: Database) throws -> StoreTotals {
        let delete = try database.cachedStatement(
            sql: "DELETE FROM entry WHERE source = ? AND entry = ? RETURNING size, labels")
        guard let row = try Row.fetchOne(delete, arguments: key.arguments) else { return StoreTotals() }
        try deleteUse(key.useKey, in: database)
        let labels = Array(Data.fromDatabaseValue(row[1]) ?? Data())
        try count([key.source: [labels: -1]], in: database)
        return StoreTotals(entries: -1, bytes: -blockBytes(row[0]))
    }

    private static func deleteUse(_ key: Data, in database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM later_use WHERE key = ?").execute(arguments: [key])
    }

    private static func deleteAll(ofSource source: StoreKey, in database: Database) throws -> StoreTotals {
        let delete = try database.cachedStatement(
            sql: "DELETE FROM entry WHERE source = ? RETURNING size, labels, substr(entry, 25)")
        let rows = try Row.fetchAll(delete, arguments: [source.data])
        for row in rows { try deleteUse(Data.fromDatabaseValue(row[2]) ?? Data(), in: database) }
        let deleteLabel = try database.cachedStatement(sql: "DELETE FROM label WHERE label = ? AND source = ?")
        // Usually, all entries of a source have the same labels.
        for list in Set(rows.compactMap { Data.fromDatabaseValue($0[1]) }) {
            for label in EntryLabels(bytes: Array(list))?.strings ?? [] {
                try deleteLabel.execute(arguments: [Data(label.utf8), source.data])
            }
        }
        return StoreTotals(entries: -rows.count, bytes: -rows.reduce(0) { $0 + blockBytes($1[0]) })
    }

    /// Changes the counts of labels, once for all records of a source with the same labels.
    private static func count(_ changes: [StoreKey: [[UInt8]: Int]], in database: Database) throws {
        let change = try database.cachedStatement(
            sql: """
                INSERT INTO label (label, source, entries) VALUES (?, ?, ?)
                ON CONFLICT (label, source) DO UPDATE SET entries = entries + excluded.entries
                """)
        let deleteUnused = try database.cachedStatement(
            sql: "DELETE FROM label WHERE label = ? AND source = ? AND entries <= 0")
        for (source, changes) in changes {
            for (labels, number) in changes where number != 0 {
                for label in EntryLabels(bytes: labels)?.strings ?? [] {
                    try change.execute(arguments: [Data(label.utf8), source.data, number])
                    if number < 0 { try deleteUnused.execute(arguments: [Data(label.utf8), source.data]) }
                }
            }
        }
    }

    private static func totals(in database: Database, _ sql: String) throws -> StoreTotals {
        let row = try Row.fetchOne(database, sql: sql)
        return StoreTotals(
            entries: row.flatMap { Int.fromDatabaseValue($0[0]) } ?? 0,
            bytes: row.flatMap { Int.fromDatabaseValue($0[1]) } ?? 0)
    }
}
