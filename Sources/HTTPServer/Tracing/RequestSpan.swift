import DarkroomTracing
import Tracing

/// The span of a request, from its head to the head of its response.
///
/// Its attributes follow OpenTelemetry's conventions for HTTP servers. Attributes that may be secret are left out: the
/// query and the client's header fields.
struct RequestSpan {
    let span: any Span

    /// - Parameters:
    ///   - request: its path is redacted as in the log.
    ///   - route: the path as its route spells it; nil when no route matches.
    func end(_ request: AccessLogEntry, route: String?) {
        // Methods chosen by clients must not become names (OpenTelemetry: http.request.method).
        let isKnown = Self.methods.contains(request.method)
        let method = isKnown ? request.method : "HTTP"
        span.operationName = route.map { "\(method) \($0)" } ?? method
        span.updateAttributes { attributes in
            attributes["http.request.method"] = isKnown ? request.method : "_OTHER"
            attributes["url.scheme"] = "http"
            attributes["url.path"] = request.path
            attributes["http.response.status_code"] = request.status
            if let route { attributes["http.route"] = route }
            if let bytes = request.bytes { attributes["http.response.body.size"] = bytes }
            if let client = request.client { attributes["client.address"] = "\(client)" }
            if let cache = request.cacheStatus.map(CacheAttributes.init) {
                if let status = cache.status { attributes["darkroom.cache.status"] = status }
                if let tier = cache.tier { attributes["darkroom.cache.tier"] = tier }
                if cache.isShared { attributes["darkroom.shared"] = true }
            }
            if request.status >= 500 { attributes["error.type"] = request.problem ?? "\(request.status)" }
        }
        // To a server, a failure of the client is not an error.
        if request.status >= 500 { span.setStatus(SpanStatus(code: .error)) }
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
