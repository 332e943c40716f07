package import DarkroomTracing
import Synchronization
package import Tracing

/// Records the spans of sampled traces and queues them for export. Propagates traces as ``W3CTraceContext`` does.
package struct OpenTelemetryTracer: Tracer, W3CPropagation {
    /// Decides on traces that begin here and have not been decided on.
    package let sampler: TraceSampler
    private let queue: SpanQueue

    /// - Parameter queue: takes the spans that have ended.
    package init(sampler: TraceSampler, queue: SpanQueue) {
        self.sampler = sampler
        self.queue = queue
    }

    /// Starts a span below the span in the context, or the first span of a request. It records nothing if the trace is
    /// not sampled.
    package func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> OpenTelemetrySpan {
        var context = context()
        let trace = context.trace ?? Trace(received: nil, state: nil)
        context.trace = trace
        guard let span = span(in: trace) else { return OpenTelemetrySpan(context: context, recorder: nil) }
        context.trace = Trace(recording: span, state: trace.state)
        let record = SpanRecord(
            span: span, parentID: (trace.span ?? trace.received)?.spanID, isParentRemote: trace.received != nil,
            traceState: trace.state?.text, name: operationName, kind: kind, start: instant().nanosecondsSinceEpoch)
        return OpenTelemetrySpan(context: context, recorder: SpanRecorder(record, queue: queue))
    }

    /// The new span's place in a trace; nil if the trace is not recorded.
    private func span(in trace: Trace) -> TraceParent? {
        if let parent = trace.span { return parent.child(isSampled: true) }
        if trace.isSampled == nil {
            trace.decide(isSampled: sampler.samples(trace.received, isTrusted: false))
        }
        return trace.isSampled == true ? trace.parent.child(isSampled: true) : nil
    }

    /// Does nothing: the exporter delivers on its own, at the latest during shutdown.
    package func forceFlush() {}
}

/// A span of ``OpenTelemetryTracer``. Without a recorder, as in a trace that is not sampled, it costs no allocation.
package struct OpenTelemetrySpan: Span {
    package let context: ServiceContext
    let recorder: SpanRecorder?

    /// Whether the span records and has not ended.
    package var isRecording: Bool { recorder?.record != nil }

    package var operationName: String {
        get { recorder?.record?.name ?? "" }
        nonmutating set { recorder?.update { $0.name = newValue } }
    }

    package var attributes: SpanAttributes {
        get { recorder?.record?.attributes ?? [:] }
        nonmutating set { recorder?.update { $0.attributes = newValue } }
    }

    package func setStatus(_ status: SpanStatus) {
        recorder?.update { $0.status = status }
    }

    package func addEvent(_ event: SpanEvent) {
        recorder?.update { $0.add(event) }
    }

    package func addLink(_ link: SpanLink) {
        recorder?.update { $0.add(link) }
    }

    /// Adds the event that OpenTelemetry's conventions for exceptions describe.
    package func recordError<Instant: TracerInstant>(
        _ error: any Error, attributes: SpanAttributes, at instant: @autoclosure () -> Instant
    ) {
        guard let recorder else { return }
        var attributes = attributes
        attributes["exception.type"] = "\(type(of: error))"
        attributes["exception.message"] = "\(error)"
        let event = SpanEvent(name: "exception", at: instant(), attributes: attributes)
        recorder.update { $0.add(event) }
    }

    /// Ends the span and queues it. Later calls have no effect.
    package func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {
        guard let recorder else { return }
        recorder.end(at: instant().nanosecondsSinceEpoch)
    }
}

/// Collects the recorded data of a span until it ends.
final class SpanRecorder: Sendable {
    private let state: Mutex<SpanRecord?>
    private let queue: SpanQueue

    init(_ record: SpanRecord, queue: SpanQueue) {
        state = Mutex(record)
        self.queue = queue
    }

    /// Nil once the span has ended.
    var record: SpanRecord? { state.withLock(\.self) }

    func update(_ change: (inout SpanRecord) -> Void) {
        state.withLock { record in
            guard var changed = record.take() else { return }
            change(&changed)
            record = changed
        }
    }

    func end(at instant: UInt64) {
        guard var record = state.withLock({ $0.take() }) else { return }
        // The system's clock may have been set back.
        record.end = max(record.start, instant)
        queue.append(record)
    }
}

struct SpanRecord: Sendable {
    /// The maximum number of events and links of a span; further ones are only counted. It is the default limit of
    /// OpenTelemetry's SDKs.
    static let maxItems = 128

    let span: TraceParent
    /// The id of the parent span; nil for the first span of a trace.
    let parentID: String?
    /// Whether the parent is a span of another process.
    let isParentRemote: Bool
    let traceState: String?
    var name: String
    let kind: SpanKind
    /// Nanoseconds since 1970, as in ``end``.
    let start: UInt64
    /// 0 until the span has ended.
    var end: UInt64 = 0
    var attributes: SpanAttributes = [:]
    private(set) var events: [SpanEvent] = []
    private(set) var droppedEvents = 0
    private(set) var links: [SpanLink] = []
    private(set) var droppedLinks = 0
    var status: SpanStatus?

    mutating func add(_ event: SpanEvent) {
        if events.count < Self.maxItems { events.append(event) } else { droppedEvents += 1 }
    }

    mutating func add(_ link: SpanLink) {
        if links.count < Self.maxItems { links.append(link) } else { droppedLinks += 1 }
    }
}
