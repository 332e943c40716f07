import DarkroomHTTPCaching
import Tracing

/// A span of the current task's trace, by the tracer of the process.
struct RecordedSpan: Sendable {
    let span: any Span
    let tracer: any Tracer

    /// Starts a span, which must be ended.
    ///
    /// Nil if the trace is not recorded, and for background work, which may outlive the request that caused it. Work
    /// that several requests share belongs to the trace of the first request.
    init?(_ name: String, _ urgency: Urgency, kind: SpanKind = .internal) {
        guard urgency.level != .background else { return nil }
        tracer = InstrumentationSystem.tracer
        guard !(tracer is NoOpTracer) else { return nil }
        span = tracer.startSpan(name, ofKind: kind)
        guard span.isRecording else { return nil }
    }

    /// Runs work as part of the span, and ends the span.
    func run<Value: Sendable, Failure: SpanFailure>(
        _ work: () async throws(Failure) -> Value
    ) async throws(Failure) -> Value {
        let result = await ServiceContext.withValue(span.context) { () async -> Result<Value, Failure> in
            do throws(Failure) { return .success(try await work()) } catch { return .failure(error) }
        }
        if case .failure(let error) = result { span.fail(error) }
        span.end()
        return try result.get()
    }
}

/// An error that a span can state.
protocol SpanFailure: Error {
    /// A word out of few (OpenTelemetry: error.type).
    var spanType: String { get }
    /// The error as a sentence without secrets; nil = the word says enough.
    var spanMessage: String? { get }
    /// The status of the response that is the error; nil = there was none.
    var receivedStatus: Int? { get }
}

extension Span {
    func fail(_ error: some SpanFailure) {
        attributes["error.type"] = error.spanType
        if let status = error.receivedStatus { attributes["http.response.status_code"] = status }
        setStatus(SpanStatus(code: .error, message: error.spanMessage))
    }
}

extension PipelineError: SpanFailure {
    var spanMessage: String? { nil }
    var receivedStatus: Int? { nil }

    var spanType: String {
        switch self {
        case .invalidURL: "invalid_url"
        case .badParameter: "bad_parameter"
        case .notAllowed: "not_allowed"
        case .notFound(let status): status.map(String.init) ?? "not_found"
        case .tooLarge: "too_large"
        case .unsupported, .missingDecoder: "unsupported"
        case .corrupt: "corrupt"
        case .originFailed(let failure), .originTimedOut(let failure):
            failure.proxyError?.rawValue ?? failure.receivedStatus.map(String.init) ?? "_OTHER"
        case .originUnavailable: "destination_unavailable"
        case .remembered(let error, _, _): error.spanType
        case .notCached: "not_cached"
        case .timedOut: "timeout"
        case .overloaded: "overloaded"
        case .loop: "proxy_loop_detected"
        case .cancelled: "canceled"
        case .failed: "_OTHER"
        case .mark(let error): error.spanType
        }
    }
}
