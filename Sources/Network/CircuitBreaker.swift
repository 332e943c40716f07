/// The circuit breaker of one server: whether the server may be contacted, by its recent failures.
///
///     closed ── 5 failures in a row ──▶ open ── pause ends ──▶ half open
///       ▲                                ▲  ▲                   │ │ │
///       │                                │  └── probe inconclusive ─┘ │ │
///       │                                └────── probe failed ────┘ │  (twice the pause)
///       └───────────────── any answer ──────────────────────────────┘
package struct CircuitBreaker: Hashable, Sendable {
    package typealias Instant = ContinuousClock.Instant

    package enum State: Hashable, Sendable {
        /// Requests pass. Counts the failures since the last answer.
        case closed(failures: Int)
        /// Requests are refused until the instant. The first request after it is the probe.
        case open(until: Instant)
        /// One probe is running. Other requests are refused.
        case halfOpen(probe: UInt64)
    }

    package enum Admission: Hashable, Sendable {
        case granted(Permit)
        /// The request must not be sent now.
        case refused(retryAfter: Duration)
    }

    /// The permission for one request, ended by ``record(_:of:at:random:)``.
    package enum Permit: Hashable, Sendable {
        case ordinary
        case probe(UInt64)
    }

    /// The outcome of a request as far as reachability is concerned.
    package enum Outcome: Hashable, Sendable {
        /// The host answered in HTTP, with any status.
        case answered
        /// No connection was established, or it closed before an answer.
        case failed
        /// The outcome says nothing about the host.
        case inconclusive
    }

    /// A change of state that is logged.
    package enum Change: Hashable, Sendable {
        case outageBegan(pause: Duration)
        case outageEnded
    }

    package private(set) var state = State.closed(failures: 0)
    /// The number of pauses since the last answer.
    private var pauses = 0
    private let longestPause: Duration

    /// - Parameter longestPause: what pauses grow to. Default: 60 s.
    package init(longestPause: Duration = .seconds(60)) {
        self.longestPause = longestPause
    }

    package static let failureThreshold = 5
    package static let shortestPause = Duration.seconds(1)
    /// The fraction by which a pause may be shorter or longer, so that servers do not retry at the same time.
    package static let jitter = 0.2

    /// Whether no failure is recorded, so that the breaker can be discarded.
    package var isHealthy: Bool { state == .closed(failures: 0) }

    /// Whether an outage has begun and the host has not answered since.
    package var isOutage: Bool { pauses > 0 }

    /// How long to wait before the next request, or nil if one may be sent now. Takes no permit.
    package func refusal(at now: Instant) -> Duration? {
        switch state {
        case .closed: nil
        case .open(let end): end > now ? now.duration(to: end) : nil
        case .halfOpen: Self.shortestPause
        }
    }

    /// Asks for a permit.
    ///
    /// - Parameter ticket: a number that is unique among probes.
    package mutating func admit(at now: Instant, ticket: UInt64) -> Admission {
        if let wait = refusal(at: now) { return .refused(retryAfter: wait) }
        guard case .open = state else { return .granted(.ordinary) }
        state = .halfOpen(probe: ticket)
        return .granted(.probe(ticket))
    }

    /// Records the outcome of a request.
    ///
    /// A request that began before an outage may end during it: an answer ends the outage, and a failure is ignored.
    ///
    /// - Parameter random: 0 to 1, the jitter of a pause that begins now.
    package mutating func record(_ outcome: Outcome, of permit: Permit, at now: Instant, random: Double) -> Change? {
        switch (outcome, state) {
        case (.answered, _):
            defer { self = CircuitBreaker(longestPause: longestPause) }
            return isOutage ? .outageEnded : nil
        case (.failed, .closed(let failures)) where failures + 1 < Self.failureThreshold:
            state = .closed(failures: failures + 1)
        case (.failed, .closed):
            return .outageBegan(pause: beginPause(at: now, random: random))
        case (.failed, .halfOpen(let probe)) where permit == .probe(probe):
            _ = beginPause(at: now, random: random)
        case (.inconclusive, .halfOpen(let probe)) where permit == .probe(probe):
            state = .open(until: now)
        case (.failed, _), (.inconclusive, _):
            break
        }
        return nil
    }

    private mutating func beginPause(at now: Instant, random: Double) -> Duration {
        let doubled = Self.shortestPause * (1 << min(pauses, 6))
        let pause = min(doubled, longestPause) * (1 + Self.jitter * (2 * random - 1))
        pauses += 1
        state = .open(until: now + pause)
        return pause
    }
}
