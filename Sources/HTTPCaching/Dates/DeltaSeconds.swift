import DarkroomNetwork

/// A number of seconds as caches write it (RFC 9111 §1.2.2).
enum DeltaSeconds {
    /// What larger numbers count as: 2³¹ seconds, 68 years.
    static let longest = Duration.seconds(Int64(1) << 31)

    /// Nil for anything but digits.
    static func parse(_ text: some Collection<UInt8>) -> Duration? {
        guard !text.isEmpty else { return nil }
        var seconds: Int64 = 0
        for byte in text {
            guard byte.isASCIIDigit else { return nil }
            seconds = min(seconds * 10 + Int64(byte - 0x30), longest.components.seconds)
        }
        return .seconds(seconds)
    }
}
