package import Tracing

/// Carries traces on as W3C Trace Context has it, and records nothing: for a process without a tracing system of its own, that stands
/// between some that have one.
///
/// A request without a valid `traceparent` begins a trace, as the standard's processing model wants it, so that the log and the
/// origins have something to be joined by.
package struct W3CTraceContext: Instrument {
    package init() {}

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: "traceparent", from: carrier).flatMap(TraceParent.init(parsing:))
        else {
            // Whatever state came with it belongs to a trace that we can't tell.
            context.trace = Trace(parent: TraceParent(), state: nil)
            return
        }
        let state = extractor.extract(key: "tracestate", from: carrier).flatMap(TraceState.init(parsing:))
        context.trace = Trace(parent: parent.child(), state: state)
    }

    /// Injects nothing where the context has no trace.
    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.parent.text, forKey: "traceparent", into: &carrier)
        if let state = trace.state { injector.inject(state.text, forKey: "tracestate", into: &carrier) }
    }
}

/// The trace that a request belongs to.
struct Trace: Hashable, Sendable {
    /// What is sent with whatever is asked for the request's sake: the span is the request's own.
    let parent: TraceParent
    let state: TraceState?
}
