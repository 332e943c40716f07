import DarkroomNetwork
import DarkroomTracing
import Tracing

/// The span of a request, from its head to the head of its response.
///
/// Its attributes follow OpenTelemetry's conventions for HTTP servers. Attributes that may be secret are left out: the
/// query and the client's header fields.
struct RequestSpan {
    /// What is known of a request once its response is.
    struct Outcome {
        var method: String
        /// The path as it may be logged.
        var path: String
        /// The path as its route spells it; nil when no route matches.
        var route: String?
        var status: Int
        /// The size of the response's body; nil when unknown in advance.
        var bytes: Int?
        var client: IPAddress?
        /// The response's `Cache-Status`.
        var cacheStatus: String?
        /// The kind of the response's problem document; nil if it is none.
        var problem: ProblemKind?
    }

    private let span: any Span

    init(_ span: any Span) {
        self.span = span
    }

    /// The id of the request's trace.
    var traceID: String? { span.context.trace?.traceID }

    func end(_ outcome: Outcome) {
        // Methods chosen by clients must not become names (OpenTelemetry: http.request.method).
        let isKnown = Self.methods.contains(outcome.method)
        let method = isKnown ? outcome.method : "HTTP"
        span.operationName = outcome.route.map { "\(method) \($0)" } ?? method
        span.updateAttributes { attributes in
            attributes["http.request.method"] = isKnown ? outcome.method : "_OTHER"
            attributes["url.scheme"] = "http"
            attributes["url.path"] = outcome.path
            attributes["http.response.status_code"] = outcome.status
            if let route = outcome.route { attributes["http.route"] = route }
            if let bytes = outcome.bytes { attributes["http.response.body.size"] = bytes }
            if let client = outcome.client { attributes["client.address"] = "\(client)" }
            if let cache = outcome.cacheStatus.map(CacheAttributes.init) {
                if let status = cache.status { attributes["darkroom.cache.status"] = status }
                if let tier = cache.tier { attributes["darkroom.cache.tier"] = tier }
                if cache.isShared { attributes["darkroom.shared"] = true }
            }
            if outcome.status >= 500 { attributes["error.type"] = outcome.problem?.slug ?? "\(outcome.status)" }
        }
        // To a server, a failure of the client is not an error.
        if outcome.status >= 500 { span.setStatus(SpanStatus(code: .error)) }
        span.end()
    }

    private static let methods: Set = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "TRACE",
    ]
}

/// What a `Cache-Status` of this server says, such as `darkroom;fwd=uri-miss;collapsed;detail=original-miss`.
private struct CacheAttributes {
    /// `hit`, or why the request was forwarded.
    var status: String?
    /// The tier that had the variant, or the original; nil if none had.
    var tier: String?
    /// Whether another request's work was shared.
    var isShared = false

    init(_ text: String) {
        for parameter in text.split(separator: ";").dropFirst() {
            let parts = parameter.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            switch (parts.first, parts.dropFirst().first) {
            case ("hit", _): status = "hit"
            case ("fwd", let reason?): status = String(reason)
            case ("detail", let detail?) where detail != "original-miss": tier = String(detail)
            case ("collapsed", _): isShared = true
            default: break
            }
        }
    }
}
