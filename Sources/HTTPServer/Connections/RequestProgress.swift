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

/// The time that a client may still take for the response bytes that wait for it.
///
/// The time in which bytes wait uses the allowance up. Each byte that the client takes, and the time in which none
/// waits, fills it again up to the limit. A client that takes nothing is thus out of time after the limit, and a client
/// below the rate is too, some time later, however long its response is. The rate is an average, because a slow client
/// makes room in its buffers only now and then.
struct ReadAllowance {
    private let limit: TimeAmount
    private let bytesPerSecond: Int
    private var left: TimeAmount
    private var updatedAt: NIODeadline
    private var isWaiting = false

    init(limit: TimeAmount, bytesPerSecond: Int, at now: NIODeadline) {
        self.limit = limit
        self.bytesPerSecond = bytesPerSecond
        left = limit
        updatedAt = now
    }

    /// When the client is out of time if it takes no further byte.
    var deadline: NIODeadline { updatedAt + left }

    /// Counts the time since the last update, and the bytes that the client has taken since.
    mutating func update(taken bytes: Int, isWaiting: Bool, at now: NIODeadline) {
        let elapsed = now - updatedAt
        let earned = TimeAmount.nanoseconds(1_000_000_000 / Int64(bytesPerSecond)) * bytes
        left = min(limit, (self.isWaiting ? left - elapsed : left + elapsed) + earned)
        (updatedAt, self.isWaiting) = (now, isWaiting)
    }
}
