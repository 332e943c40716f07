import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomNetwork
import DarkroomOrigin
import DarkroomTransforms
import DarkroomWaiting
import HTTPTypes
import NIOCore
import Synchronization
import Tracing

/// The spans of a pixel job: `queue`, then `process` with `decode`, `transform` and `encode`.
///
/// The job runs on a thread without a task, so the spans are handed over.
final class PixelSpans: Sendable {
    private struct State {
        /// The span that has not ended.
        var current: (any Span)?
        var processingSince = DefaultTracerClock.now
    }

    private let tracer: any Tracer
    private let context: ServiceContext
    private let state: Mutex<State>

    /// Starts the wait for a thread. Nil if the trace is not recorded.
    init?(_ urgency: Urgency) {
        guard let queue = RecordedSpan("queue", urgency) else { return nil }
        tracer = queue.tracer
        context = ServiceContext.current ?? .topLevel
        state = Mutex(State(current: queue.span))
    }

    /// The time, for ``startProcessing(at:)``.
    var now: DefaultTracerClock.Timestamp { DefaultTracerClock.now }

    /// Ends the wait for a thread at that time, by default now.
    func startProcessing(at time: DefaultTracerClock.Timestamp? = nil) {
        let now = time ?? now
        let queue = state.withLock { state in
            let queue = state.current
            state = State(current: tracer.startSpan("process", context: context, at: now), processingSince: now)
            return queue
        }
        queue?.end(at: now)
    }

    func finish(_ image: ProcessedImage) {
        guard let (process, start) = take() else { return }
        let end = DefaultTracerClock.now
        process.updateAttributes { attributes in
            attributes["darkroom.source.format"] = image.sourceFormat.rawValue
            attributes["darkroom.format"] = image.format.rawValue
            attributes["darkroom.width"] = image.size.width
            attributes["darkroom.height"] = image.size.height
            attributes["darkroom.bytes"] = image.body.readableBytes
        }
        if let stages = image.stages { record(stages, in: process.context, from: start, to: end) }
        process.end(at: end)
    }

    /// Ends the span that the job failed in.
    func fail(_ error: PipelineError) {
        guard let (span, _) = take() else { return }
        span.fail(error)
        span.end()
    }

    /// Records the stages, whose durations a worker may have measured. The last stage ends with processing, each other
    /// stage when the next stage starts.
    private func record(
        _ stages: ProcessingStages, in context: ServiceContext, from first: DefaultTracerClock.Timestamp,
        to end: DefaultTracerClock.Timestamp
    ) {
        var instant = end.nanosecondsSinceEpoch
        let parts: [(String, Duration?)] = [
            ("encode", stages.encode), ("transform", stages.transform), ("decode", stages.decode),
        ]
        for case (let name, let duration?) in parts {
            // A worker's clock is not trusted, and the clock may have been set back.
            let most = instant - min(instant, first.nanosecondsSinceEpoch)
            let start = instant - min(most, UInt64(max(0, duration / .nanoseconds(1))))
            let span = tracer.startSpan(
                name, context: context, at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: start))
            span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: instant))
            instant = start
        }
    }

    /// The span that has not ended, and when processing started; nil if all have.
    private func take() -> (any Span, DefaultTracerClock.Timestamp)? {
        state.withLock { state in state.current.take().map { ($0, state.processingSince) } }
    }
}

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
        let result = await ServiceContext.withValue(span.context) { await Result(catching: work) }
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

extension RecordedSpan {
    /// Adds the attributes of a request, without its path and query, which may contain secrets.
    func describe(_ request: OriginRequest) {
        span.updateAttributes { attributes in
            attributes["url.scheme"] = request.url.scheme.rawValue
            guard let host = request.url.host else { return }
            attributes["http.request.method"] = "GET"
            attributes["server.address"] = host.description
            if let port = request.url.port { attributes["server.port"] = port }
        }
    }

    /// Adds the attributes of the response.
    func describe(_ response: OriginResponse) {
        span.updateAttributes { attributes in
            if response.url.host != nil { attributes["http.response.status_code"] = Int(response.status.code) }
            attributes["http.response.body.size"] = response.content.count
        }
    }
}

extension OriginError: SpanFailure {
    /// The name in RFC 9209 §2.3 if there is one, or else the origin's status.
    var spanType: String { PipelineError(self).spanType }

    var spanMessage: String? { description }

    var receivedStatus: Int? {
        switch self {
        case .notFound(let response), .unexpectedStatus(let response): response.status
        default: nil
        }
    }
}
