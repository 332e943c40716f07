import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// A connection that was set up. Whoever serves it takes it.
///
/// Nobody does when the server stops to listen just then. NIO takes a connection that is dropped unread for a programmer's mistake and ends the
/// process, so that what nobody has taken is closed and read to its end here.
final class Arrival: Sendable {
    private let http: HTTP1Channel
    private let connection: HTTP1Channel.Value
    private let logger: Logger
    private let isTaken = Atomic(false)

    init(_ connection: HTTP1Channel.Value, of http: HTTP1Channel, logger: Logger) {
        self.connection = connection
        self.http = http
        self.logger = logger
    }

    var channel: any Channel { connection.channel }

    /// Serves the connection until its end.
    func serve() async {
        isTaken.store(true, ordering: .relaxed)
        await http.handle(value: connection, logger: logger)
    }

    deinit {
        guard !isTaken.load(ordering: .relaxed) else { return }
        connection.channel.close(promise: nil)
        Task { [http, connection, logger] in await http.handle(value: connection, logger: logger) }
    }
}
