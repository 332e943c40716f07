import DarkroomTracing
import HTTPTypes
package import Logging
import ServiceContextModule
import Tracing

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
