import HTTPTypes
package import Logging
import ServiceContextModule
import Tracing

extension ServiceContext {
    private enum TraceKey: ServiceContextKey {
        typealias Value = Trace
    }

    private enum RequestIDKey: ServiceContextKey {
        typealias Value = String
    }

    /// Set by ``W3CTraceContext``.
    var trace: Trace? {
        get { self[TraceKey.self] }
        set { self[TraceKey.self] = newValue }
    }

    var requestID: String? {
        get { self[RequestIDKey.self] }
        set { self[RequestIDKey.self] = newValue }
    }

    /// Of a request that has just come.
    init(_ request: HTTPFields, requestID: String, by instrument: any Instrument) {
        self = .topLevel
        self.requestID = requestID
        instrument.extract(request, into: &self, using: FieldExtractor())
    }
}

extension Logger.MetadataProvider {
    /// `request-id` and `trace-id` of the request that a line is written for. Work that several requests share counts for the one
    /// that began it.
    package static let request = Logger.MetadataProvider {
        guard let context = ServiceContext.current else { return [:] }
        var metadata: Logger.Metadata = [:]
        if let requestID = context.requestID { metadata["request-id"] = "\(requestID)" }
        if let trace = context.trace { metadata["trace-id"] = "\(trace.parent.traceID)" }
        return metadata
    }
}

private struct FieldExtractor: Extractor {
    /// Fields of one name come as the list that they stand for (RFC 9110 §5.3).
    func extract(key: String, from fields: HTTPFields) -> String? { HTTPField.Name(key).flatMap { fields[$0] } }
}
