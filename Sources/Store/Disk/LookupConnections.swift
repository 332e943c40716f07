import DarkroomMachine
import GRDB
import Synchronization

/// The connections that lookups read the index with, each used by one thread at a time. They stay open.
///
/// A pool of GRDB would do the same, but takes as long as the query: it passes four dispatch queues for each use of a
/// connection.
final class LookupConnections: Sendable {
    private struct State {
        var open: [LookupConnection]
        var idle: [LookupConnection]
        /// Read only what the system has in memory, on threads that must not wait.
        var idleAtOnce: [LookupConnection] = []
        /// Whether such a thread had no connection. Only other threads open one.
        var lacksAtOnce = false
        var isClosed = false
    }

    private let path: String
    private let configuration: Configuration
    private let state: Mutex<State>

    /// - Parameter configuration: as of the connections which write.
    init(_ path: String, _ configuration: Configuration) throws {
        self.path = path
        var configuration = configuration
        configuration.readonly = true
        self.configuration = configuration
        let first = try LookupConnection(path, configuration)
        state = Mutex(State(open: [first], idle: [first]))
    }

    /// The rows of entries of one source, in the order of the keys, up to the first key without a row. Throws if the
    /// connections are closed.
    func rows(for keys: [EntryKey]) throws -> [IndexRow] {
        let (idle, lacksAtOnce) = state.withLock { state in
            defer { state.lacksAtOnce = false }
            return (state.idle.popLast(), state.lacksAtOnce)
        }
        // Without it, as where no descriptor is free, lookups only take longer.
        if lacksAtOnce, LookupConnection.canReadAtOnce { try? openAtOnce() }
        let connection = try idle ?? another(configuration)
        defer { state.withLock { if !$0.isClosed { $0.idle.append(connection) } } }
        return try connection.rows(for: keys)
    }

    /// The rows like ``rows(for:)``, if the system has them in memory; never waits for a device. Nil otherwise, on any
    /// error, and before the first lookup that may wait.
    func rowsAtOnce(for keys: [EntryKey]) -> [IndexRow]? {
        let connection = state.withLock { state in
            let connection = state.idleAtOnce.popLast()
            if connection == nil { state.lacksAtOnce = true }
            return connection
        }
        guard let connection else { return nil }
        defer { state.withLock { if !$0.isClosed { $0.idleAtOnce.append(connection) } } }
        return CachedFiles.withoutWaiting { try? connection.rows(for: keys) }
    }

    private func openAtOnce() throws {
        var configuration = configuration
        configuration.busyMode = .immediateError
        let connection = try another(configuration)
        state.withLock { $0.idleAtOnce.append(connection) }
    }

    private func another(_ configuration: Configuration) throws -> LookupConnection {
        let connection = try LookupConnection(path, configuration)
        let isClosed = state.withLock { state in
            if !state.isClosed { state.open.append(connection) }
            return state.isClosed
        }
        if isClosed { throw DatabaseError(resultCode: .SQLITE_MISUSE, message: "the index is closed") }
        return connection
    }

    /// Closes the connections, after reads in progress; later reads throw.
    func close() {
        let open = state.withLock { state in
            state.isClosed = true
            (state.idle, state.idleAtOnce) = ([], [])
            return state.open
        }
        for connection in open { connection.close() }
    }
}
