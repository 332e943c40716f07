import DarkroomNetwork
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
