import DarkroomNetwork
public import Foundation
public import HTTPTypes

/// `delta-seconds`: a number of seconds in a caching field (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// 2³¹ seconds, which is 68 years. Greater numbers mean this.
    static let max = Duration.seconds(Int64(1) << 31)

    /// Reads decimal digits. Returns nil for anything else.
    static func parse(_ text: some Collection<UInt8>) -> Duration? {
        guard !text.isEmpty else { return nil }
        var seconds: Int64 = 0
        for byte in text {
            guard byte.isASCIIDigit else { return nil }
            seconds = min(seconds * 10 + Int64(byte - 0x30), max.components.seconds)
        }
        return .seconds(seconds)
    }
}

extension Duration {
    /// The time from one date to another, negative if `end` is earlier. Clamped, so that no date overflows it.
    init(from start: Date, to end: Date) {
        let seconds = end.timeIntervalSince(start)
        self = .seconds(seconds.isNaN ? 0 : min(max(seconds, -Self.maxSeconds), Self.maxSeconds))
    }

    /// More seconds than lie between any two dates that HTTP can express.
    private static let maxSeconds = 1e12
}

extension HTTPFields {
    /// How long a client should wait before it repeats the request: the `Retry-After` field (RFC 9110 §10.2.3).
    ///
    /// 0 to 2³¹ seconds; 0 for a date in the past. Nil if the field is missing or malformed.
    ///
    /// - Parameter now: the time that a date is relative to.
    public func retryAfter(now: Date) -> Duration? {
        guard let text = self[.retryAfter] else { return nil }
        if let seconds = DeltaSeconds.parse(text.utf8) { return seconds }
        guard let date = HTTPDate(parsing: text, now: now)?.date else { return nil }
        return Swift.min(Swift.max(Duration(from: now, to: date), .zero), DeltaSeconds.max)
    }
}
