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

    /// The trace of a request. If the client sent no parent, a new trace starts when it is needed.
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

/// Decides at the head of a request whether its spans are recorded.
///
/// A decision takes no random number from the system: most requests are not recorded and should cost nothing.
package final class TraceSampler: Sendable {
    /// The share of requests that are recorded, 0 to 1.
    package let ratio: Double
    /// The state of a SplitMix64 generator.
    private let position: Atomic<UInt64>

    /// - Parameter seed: where the sequence of decisions starts; random by default.
    package init(ratio: Double, seed: UInt64 = .random(in: 0...UInt64.max)) {
        self.ratio = ratio
        position = Atomic(seed)
    }

    /// Whether a request is recorded.
    ///
    /// A parent that is not sampled is followed. A sampled parent is followed if it is trusted; otherwise the request
    /// is recorded as often as a request without a parent, so that clients cannot have each of their requests recorded.
    package func samples(_ parent: TraceParent?, isTrusted: Bool) -> Bool {
        guard let parent else { return draws() }
        return parent.isSampled && (isTrusted || draws())
    }

    private func draws() -> Bool {
        if ratio >= 1 { return true }
        guard ratio > 0 else { return false }
        var number = position.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        number = (number ^ number >> 30) &* 0xBF58_476D_1CE4_E5B9
        number = (number ^ number >> 27) &* 0x94D0_49BB_1331_11EB
        return number ^ number >> 31 < UInt64(ratio * 0x1p64)
    }
}
