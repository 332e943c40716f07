package import NIOCore

/// Answers requests on the event loop of their connection, in front of the framework.
package protocol FastResponder: Sendable {
    /// The response to a request; nil if the framework has to answer it. Must not block.
    func response(to request: FastRequest) -> FastResponse?
}

/// A response whose head was encoded before, complete but for `Server-Timing` and `X-Request-Id`.
package struct FastResponse: Sendable {
    package let status: Int
    /// The status line and the header fields, without the empty line at the end.
    package let head: ByteBuffer
    /// The value of `Server-Timing`, which is measured anew for each response.
    package let serverTiming: String
    /// The body; empty if the status allows none. It is not sent in response to HEAD.
    package let body: ByteBuffer
    /// The value of `Cache-Status` for the access log.
    package let cacheStatus: String
    /// The metrics of the route.
    package let metrics: RouteMetrics

    package init(
        status: Int, head: ByteBuffer, serverTiming: String, body: ByteBuffer, cacheStatus: String,
        metrics: RouteMetrics
    ) {
        self.status = status
        self.head = head
        self.serverTiming = serverTiming
        self.body = body
        self.cacheStatus = cacheStatus
        self.metrics = metrics
    }
}

/// What the connections of a listener share to answer requests in front of the framework.
struct FastPath: Sendable {
    let responder: any FastResponder
    let observers: RequestObservers
    let proxies: TrustedProxies
}
