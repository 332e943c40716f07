package import Tracing

/// What observes the requests of all listeners: metrics, the count of in-flight requests, the access log and the trace instrument.
package struct RequestObservers: Sendable {
    let metrics: RequestMetrics
    let state: ServerState
    let log: AccessLog
    let instrument: any Instrument

    /// - Parameter instrument: extracts the trace of each request from its header fields.
    package init(
        metrics: RequestMetrics, state: ServerState, log: AccessLog,
        instrument: any Instrument = InstrumentationSystem.instrument
    ) {
        self.metrics = metrics
        self.state = state
        self.log = log
        self.instrument = instrument
    }
}
