public import Foundation
public import HTTPTypes

/// How long a server asks to be left alone (RFC 9110 §10.2.3).
public struct RetryAfter: Hashable, Sendable {
    /// Zero where the date lies in the past; at most 2³¹ seconds.
    public let delay: Duration

    /// Nil where the fields hold no `Retry-After`, or one that is neither a number of seconds nor a date.
    ///
    /// - Parameter now: what a date is reckoned from.
    public init?(_ fields: HTTPFields, now: Date) {
        guard let text = fields[.retryAfter] else { return nil }
        if let seconds = DeltaSeconds.parse(text.utf8) {
            delay = seconds
        } else if let date = HTTPDate(parsing: text, now: now)?.date {
            delay = min(max(Duration(from: now, to: date), .zero), DeltaSeconds.longest)
        } else {
            return nil
        }
    }
}
