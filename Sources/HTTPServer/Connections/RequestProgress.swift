import NIOCore

/// The state of a connection: which part of a request is being read and since when, and how many requests await their
/// response.
struct RequestProgress {
    private enum Phase {
        case idle, head, body
    }

    /// A new connection owes a request.
    private var phase = Phase.head
    private var since: NIODeadline
    /// The number of requests whose response is not complete.
    private(set) var pendingResponses = 0

    init(at now: NIODeadline) {
        since = now
    }

    /// Whether a request's head has been read and its body has not.
    var isReadingBody: Bool { phase == .body }

    /// Records that bytes were received, after all requests that they complete were recorded.
    mutating func receivedBytes(at now: NIODeadline) {
        guard phase == .idle else { return }
        (phase, since) = (.head, now)
    }

    /// Records the end of a request's head.
    mutating func receivedHead(at now: NIODeadline) {
        (phase, since) = (.body, now)
        pendingResponses += 1
    }

    /// Records the end of a request.
    mutating func receivedEnd(at now: NIODeadline) {
        (phase, since) = (.idle, now)
    }

    /// Records the end of a response.
    mutating func sentResponse(at now: NIODeadline) {
        pendingResponses = max(0, pendingResponses - 1)
        // The server may not have read while responses were pending, so the client's time starts now.
        if pendingResponses == 0, phase != .body { since = now }
    }

    /// The time by which the client must have sent the expected bytes; nil if none are expected.
    func deadline(_ limits: ConnectionLimits) -> NIODeadline? {
        switch phase {
        case .body: since + TimeAmount(limits.bodyTimeout)
        case .head where pendingResponses == 0: since + TimeAmount(limits.headerTimeout)
        case .idle where pendingResponses == 0: since + TimeAmount(limits.idleTimeout)
        case .head, .idle: nil
        }
    }
}
