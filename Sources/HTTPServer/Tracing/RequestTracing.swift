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
    /// A request is trusted if a trusted proxy sent it.
    func begin(_ context: inout ServiceContext, isTrusted: Bool) -> RequestSpan? {
        let isSampled = sampler.samples(context.trace?.received, isTrusted: isTrusted)
        context.trace?.decide(isSampled: isSampled)
        return isSampled ? start(&context, at: DefaultTracerClock.now) : nil
    }

    /// Starts the span of a request that was answered in front of the framework, this long after its head came in; nil
    /// if the request is not recorded, which most requests learn without a context.
    func span(of request: FastRequest, after duration: Duration, instrument: any Instrument) -> RequestSpan? {
        var context = ServiceContext.topLevel
        if let fields = request.traceFields {
            context = ServiceContext(fields, requestID: "", instrument: instrument)
        }
        guard sampler.samples(context.trace?.received, isTrusted: request.isFromTrustedProxy) else { return nil }
        if context.trace == nil { context.trace = Trace(received: nil, state: nil) }
        context.trace?.decide(isSampled: true)
        return start(&context, at: DefaultTracerClock.now.before(duration))
    }

    private func start(_ context: inout ServiceContext, at instant: DefaultTracerClock.Timestamp) -> RequestSpan {
        let span = tracer.startSpan("HTTP", context: context, ofKind: .server, at: instant)
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
