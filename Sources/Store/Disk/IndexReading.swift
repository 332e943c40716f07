import Foundation
import GRDB
import NIOCore

/// An entry as it is found for removal.
struct Victim: Sendable {
    var key: EntryKey
    var bytes: Int
}

// What the index is asked.
extension DiskIndex {
    /// The entry's record and when it was last used, or nil if there is none.
    func record(for key: EntryKey) throws(StorageFault) -> (record: EntryRecord, lastUse: Int64)? {
        try Self.attempt("look up") {
            try pool.unsafeRead { database in
                let select = try database.cachedStatement(
                    sql: """
                        SELECT size, checksum, labels, created, modified, last_use FROM entry
                        WHERE source = ? AND entry = ?
                        """)
                guard
                    let row = try Row.fetchOne(select, arguments: key.arguments),
                    let checksum = Data.fromDatabaseValue(row[1]),
                    let labels = Data.fromDatabaseValue(row[2]),
                    let created = Int64.fromDatabaseValue(row[3]),
                    let modified = Int64.fromDatabaseValue(row[4]),
                    let lastUse = Int64.fromDatabaseValue(row[5])
                else { return nil }
                let record = EntryRecord(
                    // Labels that can't be read don't fit the file's, so the entry is found damaged.
                    key: key, checksum: Array(checksum), labels: EntryLabels(bytes: Array(labels)) ?? .none,
                    fileBytes: fileBytes(row[0]), created: created,
                    modified: modified)
                return (record, lastUse)
            }
        }
    }

    /// When the keys were first written, for those that there are.
    func creationTimes(of keys: [EntryKey]) throws(StorageFault) -> [EntryKey: Int64] {
        try Self.attempt("look up") {
            try pool.unsafeRead { database in
                let select = try database.cachedStatement(
                    sql: "SELECT created FROM entry WHERE source = ? AND entry = ?")
                return try keys.reduce(into: [:]) { times, key in
                    times[key] = try Int64.fetchOne(select, arguments: key.arguments)
                }
            }
        }
    }

    /// The entries with the lowest times, lowest first.
    func oldest(_ age: DiskStore.Expiry, before time: Int64 = .max, limit: Int) throws(StorageFault) -> [Victim] {
        try Self.attempt("look for old entries") {
            try pool.unsafeRead { database in
                try Row.fetchAll(
                    database,
                    sql: """
                        SELECT source, entry, size FROM entry WHERE \(age.column) < ? ORDER BY \(age.column) LIMIT ?
                        """, arguments: [time, limit]
                ).compactMap { row in EntryKey(row: row).map { Victim(key: $0, bytes: fileBytes(row[2])) } }
            }
        }
    }

    /// The sizes of all entries whose source's key begins with two bytes from this range; 65536 is the end of all.
    func sizes(ofSourcesBeginningWith prefixes: Range<Int>) throws(StorageFault) -> [EntryKey: Int] {
        try Self.attempt("list") {
            try pool.unsafeRead { database in
                let rows = try Row.fetchAll(
                    database, sql: "SELECT source, entry, size FROM entry WHERE source >= ? AND source < ?",
                    arguments: [bound(prefixes.lowerBound), bound(prefixes.upperBound)])
                return rows.reduce(into: [:]) { sizes, row in
                    if let key = EntryKey(row: row) { sizes[key] = fileBytes(row[2]) }
                }
            }
        }
    }

    /// The sources that have an entry with such a label.
    func sources(matching query: LabelFilter) throws(StorageFault) -> [StoreKey] {
        let (sql, arguments): (String, StatementArguments) =
            switch query {
            case .equal(let label): ("SELECT source FROM label WHERE label = ?", [Data(label.utf8)])
            case .prefix(let prefix):
                // No UTF-8 has a byte of 255, so this is above all that begins with the prefix.
                (
                    "SELECT DISTINCT source FROM label WHERE label >= ? AND label < ?",
                    [Data(prefix.utf8), Data(prefix.utf8) + [.max]]
                )
            case .all: ("SELECT DISTINCT source FROM entry", [])
            }
        return try Self.attempt("look for labels") {
            try pool.unsafeRead { database in
                try Data.fetchAll(database, sql: sql, arguments: arguments).compactMap(StoreKey.init(digest:))
            }
        }
    }

    /// The first entries of a source in the order of their keys.
    ///
    /// - Parameter now: in microseconds since 1970.
    func listing(ofSource source: StoreKey, count: Int, now: Int64) throws(StorageFault) -> [EntrySummary] {
        try Self.attempt("list a source") {
            try pool.unsafeRead { database in
                let rows = try Row.fetchAll(
                    database,
                    sql: "SELECT source, entry, size, modified FROM entry WHERE source = ? ORDER BY entry LIMIT ?",
                    arguments: [source.data, count])
                return rows.compactMap { row in
                    guard let key = EntryKey(row: row) else { return nil }
                    let (age, isOverflow) = now.subtractingReportingOverflow(Int64.fromDatabaseValue(row[3]) ?? now)
                    return EntrySummary(
                        key: key, bytes: fileBytes(row[2]), age: .microseconds(isOverflow ? 0 : max(0, age)))
                }
            }
        }
    }

    /// What there is of each of these sources.
    func totals(ofSources sources: [StoreKey]) throws(StorageFault) -> [StoreKey: StoreTotals] {
        try Self.attempt("sum up") {
            try pool.unsafeRead { database in
                let select = try database.cachedStatement(sql: "SELECT size FROM entry WHERE source = ?")
                return try sources.reduce(into: [:]) { totals, source in
                    let sizes = try DatabaseValue.fetchAll(select, arguments: [source.data]).map(fileBytes)
                    guard !sizes.isEmpty else { return }
                    totals[source] = StoreTotals(entries: sizes.count, bytes: sizes.reduce(0, +))
                }
            }
        }
    }
}

extension DiskStore.Expiry {
    /// The column that holds the time.
    fileprivate var column: String {
        switch self {
        case .access: "last_use"
        case .modification: "modified"
        case .creation: "created"
        }
    }
}

/// The lowest key that begins with two bytes, or what is above all keys.
private func bound(_ prefix: Int) -> Data {
    prefix > 0xFFFF
        ? Data(repeating: .max, count: StoreKey.byteCount + 1) : Data([UInt8(prefix >> 8), UInt8(prefix & 0xFF)])
}

/// The size in a row. A damaged row may say anything, but sums must not overflow: no file is larger than 2^40 bytes.
func fileBytes(_ value: DatabaseValue) -> Int {
    min(max(0, Int.fromDatabaseValue(value) ?? 0), 1 << 40)
}

extension StoreKey {
    /// The digest as SQLite takes it.
    var data: Data { Data(bytes) }
}

extension EntryKey {
    /// Source and entry, in this order.
    var arguments: StatementArguments { [source.data, entry.data] }

    /// The key in a row that begins with source and entry.
    fileprivate init?(row: Row) {
        guard
            let source = Data.fromDatabaseValue(row[0]).flatMap(StoreKey.init(digest:)),
            let entry = Data.fromDatabaseValue(row[1]).flatMap(StoreKey.init(digest:))
        else { return nil }
        self.init(source: source, entry: entry)
    }
}
