package import DarkroomTracing
import HTTPTypes
package import Logging
import NIOCore
import ServiceContextModule
package import Tracing

/// Records a span for each sampled request.
package struct RequestTracing: Sendable {
    private let tracer: any Tracer
    private let sampler: TraceSampler

    /// Spans of the tracer continue the trace in their context, once the sampler has decided on the request.
    package init(tracer: any Tracer, sampler: TraceSampler) {
        self.tracer = tracer
        self.sampler = sampler
    }

    /// Decides on a request, and starts its span, whose context replaces the request's; nil if it is not recorded.
    ///
    /// - Parameters:
    ///   - isTrusted: whether a trusted proxy sent the request.
    ///   - duration: how long ago its head came in.
    func begin(
        _ context: inout ServiceContext, isTrusted: Bool, after duration: Duration = .zero
    ) -> RequestSpan? {
        let isSampled = sampler.samples(context.trace?.received, isTrusted: isTrusted)
        if isSampled, context.trace == nil { context.trace = Trace(received: nil, state: nil) }
        context.trace?.decide(isSampled: isSampled)
        guard isSampled else { return nil }
        let span = tracer.startSpan(
            "HTTP", context: context, ofKind: .server, at: DefaultTracerClock.now.before(duration))
        context = span.context
        return RequestSpan(span: span)
    }
}

extension DefaultTracerClock.Timestamp {
    fileprivate func before(_ duration: Duration) -> Self {
        let nanoseconds = UInt64(max(0, duration / .nanoseconds(1)))
        return Self(nanosecondsSinceEpoch: nanosecondsSinceEpoch - min(nanosecondsSinceEpoch, nanoseconds))
    }
}

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

extension ServiceContext {
    private enum RequestIDKey: ServiceContextKey {
        typealias Value = String
    }

    /// The id of the request being handled.
    var requestID: String? {
        get { self[RequestIDKey.self] }
        set { self[RequestIDKey.self] = newValue }
    }

    init(_ fields: HTTPFields, requestID: String, instrument: any Instrument) {
        self = .topLevel
        self.requestID = requestID
        instrument.extract(fields, into: &self, using: FieldExtractor())
    }
}

extension Logger.MetadataProvider {
    /// The `request-id` and `trace-id` of the current request. Work shared by several requests is attributed to the
    /// request that started it.
    package static let request = Logger.MetadataProvider {
        guard let context = ServiceContext.current else { return [:] }
        var metadata: Logger.Metadata = [:]
        if let requestID = context.requestID { metadata["request-id"] = "\(requestID)" }
        if let traceID = context.trace?.traceID { metadata["trace-id"] = "\(traceID)" }
        return metadata
    }
}

private struct FieldExtractor: Extractor {
    /// Repeated fields are joined with commas (RFC 9110 §5.3).
    func extract(key: String, from fields: HTTPFields) -> String? { HTTPField.Name(key).flatMap { fields[$0] } }
}
