import Synchronization
package import Tracing

extension ServiceContext {
    private enum TraceKey: ServiceContextKey {
        typealias Value = Trace
    }

    /// The trace of the current request, set by ``W3CTraceContext``, or the span that is recorded now.
    package var trace: Trace? {
        get { self[TraceKey.self] }
        set { self[TraceKey.self] = newValue }
    }
}

/// The place of a request, or of a recorded span, in its trace.
package final class Trace: Sendable {
    private struct State {
        /// What is sent with outgoing requests.
        var parent: TraceParent?
        var isSampled: Bool?
    }

    /// The parent that the client sent; nil if there is none.
    package let received: TraceParent?
    package let state: TraceState?
    /// The span that is recorded; nil if none is.
    package let span: TraceParent?
    private let sent: Mutex<State>

    /// The trace of a request.
    ///
    /// - Parameter received: the parent that the client sent; nil = a new trace starts when it is needed.
    package init(received: TraceParent?, state: TraceState?) {
        self.received = received
        self.state = state
        span = nil
        sent = Mutex(State())
    }

    /// The place of a span that is recorded.
    package init(recording span: TraceParent, state: TraceState?) {
        received = nil
        self.state = state
        self.span = span
        sent = Mutex(State(parent: span, isSampled: true))
    }

    /// Whether spans of this trace are recorded here; nil if that has not been decided.
    package var isSampled: Bool? { sent.withLock(\.isSampled) }

    /// Decides whether spans of this trace are recorded here, and whether outgoing requests say so.
    package func decide(isSampled: Bool) {
        sent.withLock { $0.isSampled = isSampled }
    }

    /// The parent sent with outgoing requests, made at the first use: its span id is this request's own. Unless a
    /// decision was made, it is sampled if the received one is.
    package var parent: TraceParent {
        sent.withLock { sent in
            if let parent = sent.parent { return parent }
            let isSampled = sent.isSampled ?? received?.isSampled ?? false
            let parent = received?.child(isSampled: isSampled) ?? TraceParent(isSampled: isSampled)
            sent.parent = parent
            return parent
        }
    }

    /// The id of the trace; nil if it has not started.
    package var traceID: String? { received?.traceID ?? sent.withLock { $0.parent?.traceID } }
}
