import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// A configured connection that waits to be served.
///
/// A connection accepted while the listener shuts down is dropped without being served. NIO treats an `NIOAsyncChannel`
/// that is released unread as a programming error and traps, so `deinit` closes such a connection and drains it.
final class AcceptedConnection: Sendable {
    private let http: HTTP1Channel
    private let connection: HTTP1Channel.Value
    private let logger: Logger
    private let isServed = Atomic(false)

    init(_ connection: HTTP1Channel.Value, of http: HTTP1Channel, logger: Logger) {
        self.connection = connection
        self.http = http
        self.logger = logger
    }

    var channel: any Channel { connection.channel }

    /// Serves requests until the connection ends.
    func serve() async {
        isServed.store(true, ordering: .relaxed)
        await http.handle(value: connection, logger: logger)
    }

    deinit {
        guard !isServed.load(ordering: .relaxed) else { return }
        connection.channel.close(promise: nil)
        Task { [http, connection, logger] in await http.handle(value: connection, logger: logger) }
    }
}
