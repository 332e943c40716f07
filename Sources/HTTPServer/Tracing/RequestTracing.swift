package import DarkroomTracing
import HTTPTypes
import NIOCore
import ServiceContextModule
package import Tracing

/// Records a span for each sampled request.
package struct RequestTracing: Sendable {
    private let tracer: any Tracer
    private let sampler: TraceSampler

    /// - Parameters:
    ///   - tracer: records the spans. Its spans continue the trace in their context, once it is decided on.
    ///   - sampler: decides for each request.
    package init(tracer: any Tracer, sampler: TraceSampler) {
        self.tracer = tracer
        self.sampler = sampler
    }

    /// Decides on a request, and starts its span in the context.
    ///
    /// - Parameters:
    ///   - context: the context of the request; on return the context of its span.
    ///   - isTrusted: whether a trusted proxy sent the request.
    /// - Returns: nil if the request is not recorded.
    func begin(_ context: inout ServiceContext, isTrusted: Bool) -> RequestSpan? {
        let isSampled = sampler.samples(context.trace?.received, isTrusted: isTrusted)
        context.trace?.decide(isSampled: isSampled)
        return isSampled ? start(&context, at: DefaultTracerClock.now) : nil
    }

    /// Starts the span of a request that was answered in front of the framework.
    ///
    /// - Parameter duration: the time since the request's head came in.
    /// - Returns: nil if the request is not recorded, which most requests learn without a context.
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
