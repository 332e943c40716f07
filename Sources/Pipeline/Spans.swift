import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
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

    /// Fetches within the span, which is the parent of the origin's own span, and ends the span. Its attributes leave
    /// out the path and the query of the address, which may contain secrets.
    func fetch(_ request: OriginRequest, from origin: any OriginFetching) async throws(OriginError) -> OriginResponse {
        span.updateAttributes { attributes in
            attributes["url.scheme"] = request.url.scheme.rawValue
            guard let host = request.url.host else { return }
            attributes["http.request.method"] = "GET"
            attributes["server.address"] = host.description
            if let port = request.url.port { attributes["server.port"] = port }
        }
        let result = await ServiceContext.withValue(span.context) {
            await Result { () async throws(OriginError) in try await origin.fetch(request) }
        }
        switch result {
        case .success(let response):
            span.updateAttributes { attributes in
                if response.url.host != nil { attributes["http.response.status_code"] = Int(response.status.code) }
                attributes["http.response.body.size"] = response.content.count
            }
        case .failure(let error):
            switch error {
            case .notFound(let response), .unexpectedStatus(let response):
                span.attributes["http.response.status_code"] = response.status
            default: break
            }
            span.fail(PipelineError(error), message: error.description)
        }
        span.end()
        return try result.get()
    }
}

extension Span {
    /// - Parameter message: a sentence without secrets; nil = the error's type says enough.
    fileprivate func fail(_ error: PipelineError, message: String? = nil) {
        attributes["error.type"] = error.spanType
        setStatus(SpanStatus(code: .error, message: message))
    }
}

extension PipelineError {
    /// A word out of few (OpenTelemetry: error.type): the name in RFC 9209 §2.3 if there is one, or else the origin's
    /// status.
    fileprivate var spanType: String {
        switch self {
        case .invalidURL: "invalid_url"
        case .badParameter: "bad_parameter"
        case .notAllowed: "not_allowed"
        case .notFound(let status, _): status.map(String.init) ?? "not_found"
        case .tooLarge: "too_large"
        case .unsupported, .missingDecoder, .outdatedDecoder: "unsupported"
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
        case .mark(let error, _): error.spanType
        }
    }
}
