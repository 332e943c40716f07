package import DarkroomNetwork
import DarkroomOrigin

/// Who clients are taken for, and what each of them may do.
package struct ClientLimits: Equatable, Sendable {
    /// Proxies that are believed when they say for whom they ask.
    package var trustedProxies: [CIDR]
    /// How often each client may ask for pictures; nil = as often as it likes.
    package var rateLimit: Rate?
    /// What clients may do with their connections.
    package var connections: ConnectionLimits

    /// Every default is that of the command line.
    package init(
        trustedProxies: [CIDR] = [], rateLimit: Rate? = nil, connections: ConnectionLimits = ConnectionLimits()
    ) {
        self.trustedProxies = trustedProxies
        self.rateLimit = rateLimit
        self.connections = connections
    }
}
