import DarkroomHTTPCaching
import DarkroomOrigin
import Foundation
import HTTPTypes

/// How long a failure is remembered, by its kind.
enum FailureRetention: Sendable {
    /// Not at all: the failure says nothing about the source.
    case never
    /// The source does not exist: as long as the response says, else a minute.
    case gone(StoredResponse?)
    /// A transient failure: as long as the response says, else exponential backoff from 1 to 60 seconds, or longer if
    /// the origin sent `Retry-After`.
    case transient(StoredResponse?, retryAfter: Duration? = nil)
    /// A source that the delegate blocked: a minute.
    case blocked

    static let goneSeconds = 60.0
    static let maxBackoffSeconds = 60.0
    static let maxRetryAfterSeconds = 3_600.0
    /// The jitter as a fraction of the delay, so that sources of one origin are not retried at the same moment.
    static let jitter = 0.2

    /// - Parameters:
    ///   - attempts: consecutive failures, from 1.
    ///   - random: 0..<1.
    func lifetime(attempts: Int, policy: FreshnessPolicy, random: Double) -> Duration {
        switch self {
        case .never: return .zero
        case .gone(let response): return response?.explicitLifetime(policy) ?? .seconds(Self.goneSeconds)
        case .blocked: return .seconds(Self.goneSeconds)
        case .transient(let response, let retryAfter):
            let stated = min(response?.explicitLifetime(policy) ?? .zero, policy.maxFailureFresh)
            guard stated == .zero else { return stated }
            guard policy.remembersFailures else { return .zero }
            let doubled = min(Double(1 << min(max(attempts - 1, 0), 10)), Self.maxBackoffSeconds)
            let backoff = doubled * (1 - Self.jitter + 2 * Self.jitter * random)
            let requested = min((retryAfter ?? .zero) / .seconds(1), Self.maxRetryAfterSeconds)
            return .seconds(max(backoff, requested))
        }
    }
}

extension OriginError {
    /// How long a source that failed with this error is not requested again.
    func retention(now: Date) -> FailureRetention {
        switch self {
        case .notFound(let refusal): .gone(StoredResponse(refusal))
        case .localNotFound, .invalidURL, .notAllowed, .loop, .cancelled, .hostUnavailable: .never
        case .unexpectedStatus(let refusal):
            .transient(
                // A part is cacheable only by a cache that supports ranges (RFC 9111 §3), and 304 is no failure's own.
                [206, 304].contains(refusal.status) ? nil : StoredResponse(refusal),
                retryAfter: RetryAfter(refusal.headers, now: now)?.delay)
        case .tooLarge, .tooManyRedirects, .badRedirect, .unacceptableEncoding, .emptyBody, .unreachable, .timedOut:
            .transient(nil)
        }
    }
}

extension StoredResponse {
    fileprivate init(_ refusal: UnusableResponse) {
        self.init(
            status: refusal.status, fields: refusal.headers, sent: [:], requestedAt: refusal.requestedAt,
            receivedAt: refusal.receivedAt)
    }
}
