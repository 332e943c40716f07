package import DarkroomTracing
import HTTPTypes
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
