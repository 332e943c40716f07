import DarkroomHTTPCaching

/// How long a failure is remembered, by its kind.
enum Retention: Sendable {
    /// It says nothing about the source: a refusal by our own rules, or a client that left.
    case never
    /// The origin says that there is nothing: as long as it says so, else a minute.
    case gone(StoredResponse?)
    /// It passes by itself: a second, twice as long each time in a row, at most a minute; longer if the origin wants.
    case passing(retryAfter: Duration?)
    /// What a delegate wants left alone.
    case blocked

    static let goneSeconds = 60.0
    static let maxBackoffSeconds = 60.0
    static let maxRetryAfterSeconds = 3_600.0
    /// Waiting times lie this much around their mean, so that many sources of one origin do not come back at once.
    static let jitter = 0.2

    /// - Parameters:
    ///   - attempts: how often in a row it failed, from 1.
    ///   - random: 0..<1.
    func lifetime(attempts: Int, policy: FreshnessPolicy, random: Double) -> Duration {
        switch self {
        case .never: return .zero
        case .gone(let response): return response?.explicitLifetime(policy) ?? .seconds(Self.goneSeconds)
        case .blocked: return .seconds(Self.goneSeconds)
        case .passing(let retryAfter):
            let doubled = min(Double(1 << min(max(attempts - 1, 0), 10)), Self.maxBackoffSeconds)
            let seconds = doubled * (1 - Self.jitter + 2 * Self.jitter * random)
            let wanted = min((retryAfter ?? .zero) / .seconds(1), Self.maxRetryAfterSeconds)
            return .seconds(max(seconds, wanted))
        }
    }
}
