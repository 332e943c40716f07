import NIOCore

/// What a connection is at: what is being read of a request, since when, and how many requests wait for their answers.
struct Exchange {
    private enum Reading {
        case nothing, head, body
    }

    /// Whoever connects owes a request.
    private var reading = Reading.head
    private var since: NIODeadline
    /// Requests whose answers have not ended.
    private(set) var unanswered = 0

    init(at now: NIODeadline) {
        since = now
    }

    /// Whether a request's head has been read and its body not yet.
    var isReadingBody: Bool { reading == .body }

    /// Bytes came, and all requests that they finish have been noted.
    mutating func noteBytes(at now: NIODeadline) {
        guard reading == .nothing else { return }
        (reading, since) = (.head, now)
    }

    mutating func noteHead(at now: NIODeadline) {
        (reading, since) = (.body, now)
        unanswered += 1
    }

    /// A request's end.
    mutating func noteEnd(at now: NIODeadline) {
        (reading, since) = (.nothing, now)
    }

    /// An answer's end.
    mutating func noteAnswer(at now: NIODeadline) {
        unanswered = max(0, unanswered - 1)
        // Until then the server may have had too much to do to read on.
        if unanswered == 0, reading != .body { since = now }
    }

    /// When the client has had all the time for what it owes; nil = it owes nothing.
    func deadline(_ limits: ConnectionLimits) -> NIODeadline? {
        switch reading {
        case .body: since + TimeAmount(limits.bodyTimeout)
        case .head where unanswered == 0: since + TimeAmount(limits.headerTimeout)
        case .nothing where unanswered == 0: since + TimeAmount(limits.idleTimeout)
        case .head, .nothing: nil
        }
    }
}
