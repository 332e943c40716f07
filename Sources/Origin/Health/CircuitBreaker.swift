/// What is known about the reachability of one host and port, and whether it may be asked.
///
///     closed ── 5 failures in a row ──▶ open ── pause over ──▶ half open
///       ▲                                ▲  ▲                   │ │ │
///       │                                │  └── probe given up ─┘ │ │
///       │                                └────── probe failed ────┘ │  (twice the pause)
///       └───────────────── any answer ──────────────────────────────┘
struct CircuitBreaker: Hashable, Sendable {
    typealias Instant = ContinuousClock.Instant

    enum State: Hashable, Sendable {
        /// Everybody may ask. Counts the failures since the last answer.
        case closed(failures: Int)
        /// Nobody may ask before the instant; whoever comes first afterwards is the probe.
        case open(until: Instant)
        /// One probe is on its way, others may not ask.
        case halfOpen(probe: UInt64)
    }

    enum Admission: Hashable, Sendable {
        case granted(Permit)
        /// Not to be asked now.
        case refused(retryAfter: Duration)
    }

    /// The right to ask once, to be settled by ``settle(_:with:at:random:)``.
    enum Permit: Hashable, Sendable {
        case ordinary
        case probe(UInt64)
    }

    /// How an attempt went as far as the connection goes.
    enum Outcome: Hashable, Sendable {
        /// The host speaks HTTP, whatever it says.
        case answered
        /// No connection came about, or it broke before an answer.
        case failed
        /// It says nothing about the host.
        case inconclusive
    }

    /// What is worth a line in the log.
    enum Change: Hashable, Sendable {
        case outageBegan(pause: Duration)
        case outageEnded
    }

    private(set) var state = State.closed(failures: 0)
    /// Pauses since the last answer.
    private var pauses = 0

    static let tolerableFailures = 5
    static let shortestPause = Duration.seconds(1)
    static let longestPause = Duration.seconds(60)
    /// The share of a pause by which it may be shorter or longer, so that not all servers ask again at once.
    static let jitter = 0.2

    /// Whether nothing is held against the host, so that it need not be remembered.
    var isHealthy: Bool { state == .closed(failures: 0) }

    /// Whether the host is given a rest, or was and has not answered since.
    var isOutage: Bool { pauses > 0 }

    /// Why nobody may ask now, without asking for a permit.
    func refusal(at now: Instant) -> Duration? {
        switch state {
        case .closed: nil
        case .open(let end): end > now ? now.duration(to: end) : nil
        case .halfOpen: Self.shortestPause
        }
    }

    /// - Parameter ticket: a number that no other probe has.
    mutating func admit(at now: Instant, ticket: UInt64) -> Admission {
        if let wait = refusal(at: now) { return .refused(retryAfter: wait) }
        guard case .open = state else { return .granted(.ordinary) }
        state = .halfOpen(probe: ticket)
        return .granted(.probe(ticket))
    }

    /// Takes in how an attempt ended.
    ///
    /// Attempts that began before an outage may end within it: their answers end it, and their failures are old news.
    ///
    /// - Parameter random: 0 to 1, decides on the jitter of a pause that begins now.
    mutating func settle(_ permit: Permit, with outcome: Outcome, at now: Instant, random: Double) -> Change? {
        switch (outcome, state) {
        case (.answered, _):
            defer { self = CircuitBreaker() }
            return isOutage ? .outageEnded : nil
        case (.failed, .closed(let failures)) where failures + 1 < Self.tolerableFailures:
            state = .closed(failures: failures + 1)
        case (.failed, .closed):
            return .outageBegan(pause: rest(from: now, random: random))
        case (.failed, .halfOpen(let probe)) where permit == .probe(probe):
            _ = rest(from: now, random: random)
        case (.inconclusive, .halfOpen(let probe)) where permit == .probe(probe):
            state = .open(until: now)
        case (.failed, _), (.inconclusive, _):
            break
        }
        return nil
    }

    private mutating func rest(from now: Instant, random: Double) -> Duration {
        let doubled = Self.shortestPause * (1 << min(pauses, 6))
        let pause = min(doubled, Self.longestPause) * (1 + Self.jitter * (2 * random - 1))
        pauses += 1
        state = .open(until: now + pause)
        return pause
    }
}
