/// What clients may do with their connections. Each port has these limits to itself.
package struct ConnectionLimits: Hashable, Sendable {
    /// Connections at a time, at least 1. Further ones wait until one of them ends.
    package var maxConnections: Int
    /// Of these, those of one client: an IPv4 address or an IPv6 network of 64 bits. Further ones are closed at once. Proxies that are
    /// trusted may have all.
    package var maxConnectionsPerClient: Int
    /// From connecting, or from a request's first byte, to the end of its header fields.
    package var headerTimeout: Duration
    /// From there to the end of its body.
    package var bodyTimeout: Duration
    /// Between an answer and the next request.
    package var idleTimeout: Duration
    /// Without the client taking anything of an answer that waits for it.
    package var writeTimeout: Duration
    /// How long requests may still take once the server goes down.
    package var shutdownGrace: Duration

    /// Every default is that of the command line.
    package init(
        maxConnections: Int = 8192, maxConnectionsPerClient: Int = 1024, headerTimeout: Duration = .seconds(10),
        bodyTimeout: Duration = .seconds(30), idleTimeout: Duration = .seconds(30),
        writeTimeout: Duration = .seconds(30), shutdownGrace: Duration = .seconds(10)
    ) {
        self.maxConnections = maxConnections
        self.maxConnectionsPerClient = maxConnectionsPerClient
        self.headerTimeout = headerTimeout
        self.bodyTimeout = bodyTimeout
        self.idleTimeout = idleTimeout
        self.writeTimeout = writeTimeout
        self.shutdownGrace = shutdownGrace
    }

    /// Requests that a connection may have unanswered; what is sent beyond is not read, and the connection ends with the last answer.
    static let maxPipelinedRequests = 64
    /// Bytes of one header field, or of the request's target.
    static let maxFieldBytes = 64 << 10
    /// Bytes of all header fields and the target.
    static let maxHeadBytes = 80 << 10
    static let maxFields = 128
}
