package import DarkroomNetwork

/// The identity of clients behind proxies, and the limits for each client.
package struct ClientLimits: Equatable, Sendable {
    /// Reverse proxies whose `Forwarded` and `X-Forwarded-For` fields are trusted.
    package var trustedProxies: [CIDR] = []
    /// The request rate of each client; nil = unlimited.
    package var rateLimit: Rate?
    package var connections = ConnectionLimits.default

    /// The same defaults as the command line.
    package static let `default` = ClientLimits()
}

/// Limits and timeouts for connections. Each listener has its own count.
package struct ConnectionLimits: Hashable, Sendable {
    /// The maximum number of concurrent connections, at least 1. Further connections wait in the listen backlog.
    package var maxConnections = 8192
    /// The maximum number of concurrent connections of one client, which is an IPv4 address or an IPv6 /64 network.
    /// Further connections are closed at once. Trusted proxies are exempt.
    package var maxConnectionsPerClient = 1024
    /// The time from connecting, or from a request's first byte, to the end of the header fields.
    package var headerTimeout = Duration.seconds(10)
    /// The time from the end of the header fields to the end of the body; as long as a request may take by default.
    package var bodyTimeout = Duration.seconds(30)
    /// The time between a response and the next request.
    package var idleTimeout = Duration.seconds(30)
    /// The time that a pending response may wait for its client. Each byte that the client accepts extends it, up to
    /// this time again; see ``minReadRate``.
    package var writeTimeout = Duration.seconds(30)
    /// The time that in-flight requests have to finish after a graceful shutdown begins. By default it is as long as a
    /// request may take by default.
    package var shutdownGrace = Duration.seconds(30)

    /// The same defaults as the command line.
    package static let `default` = ConnectionLimits()

    /// The bytes per second that a client must accept on average: 64 kbit/s. A slower client would keep a response of
    /// 15 MiB in flight for more than half an hour. Phones with EDGE, the slowest network in use, read at 100 kbit/s or
    /// more.
    static let minReadRate = 8 << 10
    /// The maximum number of pipelined requests without a response. Further requests are discarded, and the connection
    /// closes after the last response.
    package static let maxPipelinedRequests = 64
    /// The maximum size in bytes of one header field, and of the request target.
    static let maxFieldBytes = 64 << 10
    /// The maximum size in bytes of the request target and all header fields together.
    static let maxHeadBytes = 80 << 10
    /// The maximum number of header fields.
    static let maxFields = 128
}
