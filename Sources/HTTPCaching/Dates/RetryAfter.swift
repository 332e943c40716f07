public import Foundation
public import HTTPTypes

/// The `Retry-After` field (RFC 9110 §10.2.3): how long a client should wait before it asks again.
public struct RetryAfter: Hashable, Sendable {
    /// 0 to 2³¹ seconds; 0 for a date in the past.
    public let delay: Duration

    /// Reads a number of seconds or a date. Nil if the field is missing or malformed.
    ///
    /// - Parameter now: the time that a date is relative to.
    public init?(_ fields: HTTPFields, now: Date) {
        guard let text = fields[.retryAfter] else { return nil }
        if let seconds = DeltaSeconds.parse(text.utf8) {
            delay = seconds
        } else if let date = HTTPDate(parsing: text, now: now)?.date {
            delay = min(max(Duration(from: now, to: date), .zero), DeltaSeconds.max)
        } else {
            return nil
        }
    }
}
