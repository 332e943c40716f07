package import Hummingbird
package import NIOCore

/// The answer to a request: now, or later.
package enum Answer: Sendable {
    case now(Reply)
    /// The response has to be waited for. Before that, the request may have been handed to another thread.
    case later(@Sendable (Request, ServerRequestContext) async throws(Problem) -> Response)
}

/// An image as an answer, complete but for what differs for each request: its id, the date, and its time.
package struct Reply: Sendable {
    package let status: Int
    /// The status line and the finished fields, without the empty line at the end.
    package let head: ByteBuffer
    /// Empty if the status allows none. It is not sent in response to HEAD.
    package let body: ByteBuffer
    /// The value of `Cache-Status`, which the head has too.
    package let cacheStatus: String
    /// For the access log.
    package let details: AccessLogDetails

    package init(status: Int, head: ByteBuffer, body: ByteBuffer, cacheStatus: String, details: AccessLogDetails) {
        self.status = status
        self.head = head
        self.body = body
        self.cacheStatus = cacheStatus
        self.details = details
    }
}
