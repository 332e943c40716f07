import DarkroomNetwork
import HummingbirdCore
import Logging
import NIOCore
import Synchronization

/// The number of open connections per client.
final class ConnectionTable: Sendable {
    private let maxPerClient: Int
    private let proxies: TrustedProxies
    private let counts = Mutex<[String: Int]>([:])

    /// - Parameter proxies: connections from these addresses are not counted.
    init(maxPerClient: Int, proxies: TrustedProxies) {
        self.maxPerClient = maxPerClient
        self.proxies = proxies
    }

    /// Counts a connection from an address, or returns false because the client has reached its limit.
    func add(_ address: IPAddress) -> Bool {
        guard !proxies.contain(address) else { return true }
        return counts.withLock { counts in
            let count = counts[address.unmapped.clientName, default: 0]
            guard count < maxPerClient else { return false }
            counts[address.unmapped.clientName] = count + 1
            return true
        }
    }

    /// Removes a connection that ``add(_:)`` has counted.
    func remove(_ address: IPAddress) {
        guard !proxies.contain(address) else { return }
        counts.withLock { counts in
            let remaining = counts[address.unmapped.clientName, default: 1] - 1
            counts[address.unmapped.clientName] = remaining > 0 ? remaining : nil
        }
    }

    /// The number of clients with open connections.
    var clientCount: Int { counts.withLock(\.count) }
}

extension Channel {
    /// The address at the other end of the connection; 127.0.0.1 for a Unix socket, whose clients run on this machine.
    /// Nil when unknown.
    var peerAddress: IPAddress? {
        if case .unixDomainSocket? = localAddress { return .v4(0x7f00_0001) }
        return remoteAddress?.ipAddress.flatMap { IPAddress($0) }
    }
}

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
