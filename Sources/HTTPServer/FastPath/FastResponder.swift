package import NIOCore

/// Answers requests on the event loop of their connection, in front of the framework.
package protocol FastResponder: Sendable {
    /// The response to a request; nil if the framework has to answer it. Must not block.
    func response(to request: FastRequest) -> FastResponse?
}

extension [any FastResponder] {
    /// The response of the first responder that has one.
    package func response(to request: FastRequest) -> FastResponse? {
        for responder in self {
            if let response = responder.response(to: request) { return response }
        }
        return nil
    }
}

/// A response, complete but for `X-Request-Id`, on which the document of a problem depends.
package struct FastResponse: Sendable {
    package enum Content: Sendable {
        /// - Parameters:
        ///   - body: empty if the status allows none. It is not sent in response to HEAD.
        ///   - cacheStatus: the value of `Cache-Status` for the access log.
        ///   - serverTiming: the value of `Server-Timing`, which the head lacks.
        case image(body: ByteBuffer, cacheStatus: String, serverTiming: String)
        /// The document, whose length the head lacks.
        case problem(Problem)
    }

    package let status: Int
    /// The status line and the header fields, without the empty line at the end.
    package let head: ByteBuffer
    package let content: Content
    /// For the access log.
    package let details: AccessLogDetails
    /// The metrics of the route.
    package let metrics: RouteMetrics

    package init(
        status: Int, head: ByteBuffer, content: Content, details: AccessLogDetails, metrics: RouteMetrics
    ) {
        self.status = status
        self.head = head
        self.content = content
        self.details = details
        self.metrics = metrics
    }
}

extension FastResponse {
    /// The value of `Cache-Status` for the access log; nil without one.
    var cacheStatus: String? {
        if case .image(_, let cacheStatus, _) = content { cacheStatus } else { nil }
    }

    /// Images come from the cache.
    var cacheUse: RouteMetrics.CacheUse {
        if case .image = content { .hit } else { .none }
    }

    /// The kind of the problem; nil if the response is none.
    var problem: ProblemKind? {
        if case .problem(let problem) = content { problem.kind } else { nil }
    }
}

/// What the connections of a listener share to answer requests in front of the framework.
struct FastPath: Sendable {
    /// Returns the current responders. Each request calls it once.
    let responders: @Sendable () -> [any FastResponder]
    let observers: RequestObservers
    let problemBase: String
}
