import DarkroomMachine
import GRDB
import GRDBSQLite
import NIOCore
import Synchronization

/// A read-only connection to the index with prepared statements, for lookups.
///
/// GRDB opens the connection; lookups call SQLite themselves, because GRDB's queues, rows and arguments take several
/// times as long as the query.
final class LookupConnection: Sendable {
    private struct Statements {
        let connection: SQLiteConnection
        /// Each selects the row of one key. A lookup uses one for each key.
        var selects: [OpaquePointer] = []
    }

    private let queue: DatabaseQueue
    /// Nil once the connection is closed.
    private let statements: Mutex<Statements?>

    init(_ path: String, _ configuration: Configuration) throws {
        _ = Self.canReadAtOnce
        queue = try DatabaseQueue(path: path, configuration: configuration)
        statements = Mutex(queue.unsafeRead { $0.sqliteConnection.map { Statements(connection: $0) } })
    }

    deinit { close() }

    /// The rows of entries of one source, in the order of the keys, up to the first key without a row. Throws if the
    /// connection is closed.
    func rows(for keys: [EntryKey]) throws -> [IndexRow] {
        try statements.withLock { statements in
            guard let connection = statements?.connection else {
                throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the index is closed")
            }
            var selects = statements?.selects ?? []
            while selects.count < keys.count {
                selects.append(try Self.select(connection))
                statements?.selects = selects
            }
            // Until the last one ends, none releases the locks of the file, so that they are taken once.
            defer { for select in selects.prefix(keys.count) { sqlite3_reset(select) } }
            var rows: [IndexRow] = []
            rows.reserveCapacity(keys.count)
            for (key, select) in zip(keys, selects) {
                guard let row = try Self.row(of: key, select, connection) else { break }
                rows.append(row)
            }
            return rows
        }
    }

    /// Closes the connection, after a read in progress; later reads throw.
    func close() {
        statements.withLock { statements in
            for select in statements?.selects ?? [] { sqlite3_finalize(select) }
            statements = nil
        }
        try? queue.close()
    }

    private static func select(_ connection: SQLiteConnection) throws -> OpaquePointer {
        let sql = """
            SELECT size, checksum, labels, content, is_restored, created, modified, last_use
            FROM entry WHERE source = ? AND entry = ?
            """
        var statement: OpaquePointer?
        guard sqlite3_prepare_v2(connection, sql, -1, &statement, nil) == SQLITE_OK, let statement else {
            throw error(of: connection)
        }
        return statement
    }

    private static func row(
        of key: EntryKey, _ select: OpaquePointer, _ connection: SQLiteConnection
    ) throws -> IndexRow? {
        try key.source.withBytes { source in
            try key.entry.withBytes { entry in
                // SQLite reads the keys where they are, only until the step has ended.
                for (place, bytes) in [(Int32(1), source), (2, entry)] {
                    guard sqlite3_bind_blob(select, place, bytes.baseAddress, Int32(bytes.count), nil) == SQLITE_OK
                    else { throw error(of: connection) }
                }
                switch sqlite3_step(select) {
                case SQLITE_ROW: return IndexRow(of: key, IndexColumns(statement: select))
                case SQLITE_DONE: return nil
                default: throw error(of: connection)
                }
            }
        }
    }

    private static func error(of connection: SQLiteConnection) -> DatabaseError {
        DatabaseError(
            resultCode: ResultCode(rawValue: sqlite3_errcode(connection)),
            message: sqlite3_errmsg(connection).map { String(cString: $0) })
    }
}

extension LookupConnection {
    /// Whether SQLite reads files with a function that does not wait for a device where that is not allowed: the
    /// first use of this value replaces SQLite's own.
    static let canReadAtOnce: Bool = {
        #if os(Linux)
            guard let system = sqlite3_vfs_find(nil), let call = system.pointee.xGetSystemCall,
                let setCall = system.pointee.xSetSystemCall
            else { return false }
            let read = unsafeBitCast(CachedFiles.pread, to: sqlite3_syscall_ptr.self)
            // Which one it uses depends on how it was built; the other is nil.
            let names: [String] = ["pread", "pread64"]
            let used = names.filter { call(system, $0) != nil }
            return !used.isEmpty && used.allSatisfy { setCall(system, $0, read) == SQLITE_OK }
        #else
            false
        #endif
    }()
}

/// The columns of the row that a statement of lookups is at.
private struct IndexColumns {
    let statement: OpaquePointer

    func integer(_ column: Int32) -> Int64? {
        sqlite3_column_type(statement, column) == SQLITE_INTEGER ? sqlite3_column_int64(statement, column) : nil
    }

    /// The bytes of a column, valid until the statement is reset.
    func blob(_ column: Int32) -> UnsafeRawBufferPointer? {
        guard sqlite3_column_type(statement, column) == SQLITE_BLOB else { return nil }
        let start = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }
}

extension IndexRow {
    /// The values of a row, or nil if a value has another type.
    fileprivate init?(of key: EntryKey, _ columns: IndexColumns) {
        guard let checksum = columns.blob(1).flatMap({ StoreKey(digest: $0) }), let labels = columns.blob(2),
            let created = columns.integer(5), let modified = columns.integer(6), let lastUse = columns.integer(7)
        else { return nil }
        record = EntryRecord(
            key: key, checksum: checksum,
            // Malformed labels differ from the labels in the file, so that the entry counts as corrupt.
            labels: EntryLabels(bytes: Array(labels)) ?? .none, fileBytes: fileBytes(columns.integer(0)),
            created: created, modified: modified, content: columns.blob(3).map { ByteBuffer(bytes: $0) },
            isRestored: columns.integer(4) != 0)
        self.lastUse = lastUse
    }
}
