import DarkroomNetwork
import DarkroomOrigin
import Synchronization

/// How many connections each client has, so that one can't have them all.
final class ConnectionTable: Sendable {
    private let maxPerClient: Int
    private let proxies: TrustedProxies
    private let counts = Mutex<[String: Int]>([:])

    init(maxPerClient: Int, proxies: TrustedProxies) {
        self.maxPerClient = maxPerClient
        self.proxies = proxies
    }

    /// Counts a connection from an address; false = it is one too many, and is not counted.
    func enter(_ address: IPAddress) -> Bool {
        guard !proxies.contain(address) else { return true }
        return counts.withLock { counts in
            let count = counts[address.unmapped.clientName, default: 0]
            guard count < maxPerClient else { return false }
            counts[address.unmapped.clientName] = count + 1
            return true
        }
    }

    /// Gives the place of a connection free that was counted.
    func leave(_ address: IPAddress) {
        guard !proxies.contain(address) else { return }
        counts.withLock { counts in
            let left = counts[address.unmapped.clientName, default: 1] - 1
            counts[address.unmapped.clientName] = left > 0 ? left : nil
        }
    }

    /// The clients that have connections.
    var clients: Int { counts.withLock(\.count) }
}
