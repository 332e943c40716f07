import GRDB
import Synchronization

/// The connections that lookups read the index with, each used by one thread at a time. The first is opened with the
/// index, others when they are first needed. They stay open.
///
/// A pool of GRDB would do the same, but takes as long as the query: it passes four dispatch queues for each use of a
/// connection.
final class LookupConnections: Sendable {
    private struct State {
        var open: [DatabaseQueue]
        var idle: [DatabaseQueue]
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
        let first = try DatabaseQueue(path: path, configuration: configuration)
        state = Mutex(State(open: [first], idle: [first]))
    }

    /// Runs queries; throws if the connections are closed.
    func read<Value>(_ body: (Database) throws -> Value) throws -> Value {
        let idle = state.withLock { $0.idle.popLast() }
        let connection = try idle ?? another()
        defer { state.withLock { $0.idle.append(connection) } }
        return try connection.unsafeRead(body)
    }

    private func another() throws -> DatabaseQueue {
        let connection = try DatabaseQueue(path: path, configuration: configuration)
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
            return state.open
        }
        for connection in open { try? connection.close() }
    }
}
