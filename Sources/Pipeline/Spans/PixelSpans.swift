import DarkroomTransforms
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
