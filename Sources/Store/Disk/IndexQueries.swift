import Foundation
import GRDB
import NIOCore

struct IndexRow: Equatable, Sendable {
    var record: EntryRecord
    /// The last use, in microseconds since 1970.
    var lastUse: Int64
}

/// An entry that may be evicted.
struct OldEntry: Sendable {
    var key: EntryKey
    /// What its file takes; 0 without one.
    var bytes: Int
    /// The last use in its row, in microseconds since 1970.
    var lastUse: Int64
    /// A use after that; nil if there was none.
    var laterUse: Int64?
}

/// The position of a row among all rows, in the order of their last uses.
struct IndexPosition: Sendable {
    var key: EntryKey
    var lastUse: Int64
    var bytes: Int64

    /// Before all rows.
    static let start = IndexPosition(
        key: EntryKey(source: StoreKey(hashing: []), entry: StoreKey(hashing: [])), lastUse: .min, bytes: .min)
}

extension IndexPosition {
    /// The position of a row that begins with source, entry, last use and size.
    fileprivate init?(row: Row) {
        guard let key = EntryKey(row: row), let lastUse = Int64.fromDatabaseValue(row[2]),
            let bytes = Int64.fromDatabaseValue(row[3])
        else { return nil }
        self.init(key: key, lastUse: lastUse, bytes: bytes)
    }
}

// Queries.
extension DiskIndex {
    /// The rows of entries of one source, in the order of the keys, up to the first key without a row.
    func rows(for keys: [EntryKey]) throws(StorageError) -> [IndexRow] {
        try Self.attempt("look up") { try lookups.rows(for: keys) }
    }

    /// The rows like ``rows(for:)``, if the system has them in memory; never waits for a device. Nil otherwise.
    func rowsAtOnce(for keys: [EntryKey]) -> [IndexRow]? { lookups.rowsAtOnce(for: keys) }

    /// The time of the first write for each of these keys, in microseconds since 1970, and whether its entry has a
    /// file. Keys without an entry are left out.
    func earlierWrites(
        of keys: [EntryKey]
    ) throws(StorageError) -> [EntryKey: (created: Int64, hasFile: Bool)] {
        let keys = keys.filter(self.keys.mayContain)
        if keys.isEmpty { return [:] }
        return try Self.attempt("look up") {
            // Uses the writer's connection, which has cached the pages that the write needs next, and one transaction,
            // which takes and releases the locks once.
            try pool.writeWithoutTransaction { database in
                var found: [EntryKey: (created: Int64, hasFile: Bool)] = [:]
                try database.inTransaction(.deferred) {
                    let select = try database.cachedStatement(
                        sql: "SELECT created, content IS NULL FROM entry WHERE source = ? AND entry = ?")
                    for key in keys {
                        guard let row = try Row.fetchOne(select, arguments: key.arguments) else { continue }
                        found[key] = (
                            Int64.fromDatabaseValue(row[0]) ?? 0, Bool.fromDatabaseValue(row[1]) ?? true
                        )
                    }
                    return .commit
                }
                return found
            }
        }
    }

    /// Begins or continues to fill the filter of keys.
    ///
    /// - Parameter entries: the number of entries.
    func fillKeyFilter(entries: Int) throws(StorageError) {
        try keys.fill(entries: entries, rows)
    }

    /// The next thousand rows after a position, in the order of an index that is much smaller than the table. A row
    /// whose last use changes meanwhile moves to the end.
    private func rows(after position: IndexPosition) throws(StorageError) -> [IndexPosition] {
        try read("list keys") { database in
            let select = try database.cachedStatement(
                sql: """
                    SELECT source, entry, last_use, size FROM entry INDEXED BY entry_by_last_use
                    WHERE (last_use, size, source, entry) > (?, ?, ?, ?)
                    ORDER BY last_use, size, source, entry LIMIT 1000
                    """)
            let arguments: StatementArguments = [position.lastUse, position.bytes] + position.key.arguments
            return try Row.fetchAll(select, arguments: arguments).compactMap(IndexPosition.init(row:))
        }
    }

    /// The entries whose rows have the oldest last uses, in this order, with their later uses. An entry without a file
    /// counts as used with each entry of its source.
    func leastRecentlyUsed(before time: Int64 = .max, limit: Int) throws(StorageError) -> [OldEntry] {
        try read("look for old entries") { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT source, entry, size, last_use, iif(
                        size > 0, (SELECT time FROM later_use WHERE key = substr(old.entry, 25)),
                        (SELECT max(max(other.last_use, ifnull(time, other.last_use))) FROM entry AS other
                            LEFT JOIN later_use ON key = substr(other.entry, 25) WHERE other.source = old.source))
                    FROM entry AS old WHERE last_use < ? ORDER BY last_use LIMIT ?
                    """,
                arguments: [time, limit]
            ).compactMap { row in
                guard let key = EntryKey(row: row) else { return nil }
                let lastUse = Int64.fromDatabaseValue(row[3]) ?? .min
                let later = Int64.fromDatabaseValue(row[4]).flatMap { $0 > lastUse ? $0 : nil }
                return OldEntry(key: key, bytes: blockBytes(row[2]), lastUse: lastUse, laterUse: later)
            }
        }
    }

    /// The sizes of the files of all entries whose source begins with twelve bits in this range, nil for entries
    /// without a file; 4096 is the end.
    func fileSizes(ofSourcesBeginningWith prefixes: Range<Int>) throws(StorageError) -> [EntryKey: Int?] {
        try read("list") { database in
            let rows = try Row.fetchAll(
                database,
                sql: "SELECT source, entry, size, content IS NULL FROM entry WHERE source >= ? AND source < ?",
                arguments: [bound(prefixes.lowerBound), bound(prefixes.upperBound)])
            return rows.reduce(into: [:]) { sizes, row in
                guard let key = EntryKey(row: row) else { return }
                let hasFile = Bool.fromDatabaseValue(row[3]) ?? true
                sizes[key] = .some(hasFile ? fileBytes(row[2]) : nil)
            }
        }
    }

    func sources(matching filter: LabelFilter) throws(StorageError) -> [StoreKey] {
        let (sql, arguments): (String, StatementArguments) =
            switch filter {
            case .equal(let label): ("SELECT source FROM label WHERE label = ?", [Data(label.utf8)])
            case .prefix(let prefix):
                // UTF-8 has no byte 255, so this is above every label with the prefix.
                (
                    "SELECT DISTINCT source FROM label WHERE label >= ? AND label < ?",
                    [Data(prefix.utf8), Data(prefix.utf8) + [.max]]
                )
            case .all: ("SELECT DISTINCT source FROM entry", [])
            }
        return try read("look for labels") {
            try Data.fetchAll($0, sql: sql, arguments: arguments).compactMap(StoreKey.init(digest:))
        }
    }

    /// The first entries of a source in the order of their keys.
    func summaries(ofSource source: StoreKey, limit: Int) throws(StorageError) -> [EntrySummary] {
        let now = clock.microseconds
        return try read("list a source") { database in
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT source, entry, iif(content IS NULL, size, length(content)), modified FROM entry
                    WHERE source = ? ORDER BY entry LIMIT ?
                    """,
                arguments: [source.data, limit])
            return rows.compactMap { row in
                guard let key = EntryKey(row: row) else { return nil }
                let (age, isOverflow) = now.subtractingReportingOverflow(Int64.fromDatabaseValue(row[3]) ?? now)
                return EntrySummary(
                    key: key, bytes: fileBytes(row[2]), age: .microseconds(isOverflow ? 0 : max(0, age)))
            }
        }
    }

    /// The totals of each of these sources; sources without entries are left out.
    func totals(ofSources sources: [StoreKey]) throws(StorageError) -> [StoreKey: StoreTotals] {
        try read("sum up") { database in
            let select = try database.cachedStatement(sql: "SELECT size FROM entry WHERE source = ?")
            return try sources.reduce(into: [:]) { totals, source in
                let sizes = try DatabaseValue.fetchAll(select, arguments: [source.data]).map(blockBytes)
                guard !sizes.isEmpty else { return }
                totals[source] = StoreTotals(entries: sizes.count, bytes: sizes.reduce(0, +))
            }
        }
    }
}

/// The lowest key that begins with these twelve bits; above 0xFFF, a value above all keys.
private func bound(_ prefix: Int) -> Data {
    prefix < DiskLayout.folderCount
        ? Data([UInt8(prefix >> 4), UInt8(prefix << 4 & 0xFF)])
        : Data(repeating: .max, count: StoreKey.byteCount + 1)
}

extension DiskIndex {
    /// The most bytes that a row counts. No file is larger.
    static let maximumSize = 1 << 40
    /// The usual block of file systems. What a file takes now is not asked for: file systems place it later.
    static let blockSize = 4096
}

/// The bytes that a file of the size in a row takes on the volume.
func blockBytes(_ size: DatabaseValue) -> Int { wholeBlocks(fileBytes(size)) }

/// The bytes of the blocks that so many bytes take.
func wholeBlocks(_ bytes: Int) -> Int {
    (bytes + DiskIndex.blockSize - 1) / DiskIndex.blockSize * DiskIndex.blockSize
}

/// The size in a row.
func fileBytes(_ value: DatabaseValue) -> Int { fileBytes(Int64.fromDatabaseValue(value)) }

/// The size in a row. A corrupt row may have any value, but totals must not overflow.
func fileBytes(_ value: Int64?) -> Int { min(max(0, Int(value ?? 0)), DiskIndex.maximumSize) }

extension StoreKey {
    /// The digest as a value for SQLite.
    var data: Data { Data(bytes) }
}

extension EntryKey {
    /// The key of the entry's later use.
    var useKey: Data { withUnsafeBytes(of: entry.trailingWord.bigEndian) { Data($0) } }

    var arguments: StatementArguments { [source.data, entry.data] }

    /// The key in a row that begins with source and entry.
    fileprivate init?(row: Row) {
        guard let source = row.key(0), let entry = row.key(1) else { return nil }
        self.init(source: source, entry: entry)
    }
}

extension Row {
    /// The digest in a column, or nil if there is none.
    fileprivate func key(_ column: Int) -> StoreKey? {
        Data.fromDatabaseValue(self[column]).flatMap(StoreKey.init(digest:))
    }
}
