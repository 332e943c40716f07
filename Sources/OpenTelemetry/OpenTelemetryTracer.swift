package import DarkroomTracing
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
