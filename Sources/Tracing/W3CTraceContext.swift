package import Tracing

/// Propagates W3C Trace Context without recording spans: for a process that has no tracing backend of its own but sits
/// between systems that do.
///
/// A request without a valid `traceparent` starts a new trace, as the specification's processing model requires, when a
/// request to an origin needs it, so that requests which need none cost no random numbers.
package struct W3CTraceContext: Instrument {
    package init() {}

    package func extract<Carrier, Extract: Extractor>(
        _ carrier: Carrier, into context: inout ServiceContext, using extractor: Extract
    ) where Extract.Carrier == Carrier {
        guard let parent = extractor.extract(key: "traceparent", from: carrier).flatMap(TraceParent.init(parsing:))
        else {
            // A `tracestate` without a valid `traceparent` belongs to an unknown trace and must be discarded.
            context.trace = Trace(received: nil, state: nil)
            return
        }
        let state = extractor.extract(key: "tracestate", from: carrier).flatMap(TraceState.init(parsing:))
        context.trace = Trace(received: parent, state: state)
    }

    /// Injects nothing when the context has no trace.
    package func inject<Carrier, Inject: Injector>(
        _ context: ServiceContext, into carrier: inout Carrier, using injector: Inject
    ) where Inject.Carrier == Carrier {
        guard let trace = context.trace else { return }
        injector.inject(trace.parent.text, forKey: "traceparent", into: &carrier)
        if let state = trace.state { injector.inject(state.text, forKey: "tracestate", into: &carrier) }
    }
}
