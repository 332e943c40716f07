import Foundation

/// The time by which a store's entries age, in microseconds since 1970: the computer's clock when the directory was
/// opened, and from there on what has really passed. It never runs backwards, not even from one opening to the next.
///
/// So a clock that is set ahead or back while the store is open changes nothing. One that was set back before the
/// opening stands for no time since the store was last used; one that was set ahead can't be told from a long pause.
struct StoreClock: Sendable {
    private let start: Int64
    private let startUptime: Duration
    private let uptime: @Sendable () -> Duration

    /// A clock that starts now, or at `last` if that is later.
    init(now: Date, last: Int64, uptime: @escaping @Sendable () -> Duration) {
        let microseconds = Int64(exactly: (now.timeIntervalSince1970 * 1_000_000).rounded()) ?? 0
        // A damaged index may say anything; sums with real durations must not overflow.
        start = max(microseconds, min(last, Int64.max / 2))
        startUptime = uptime()
        self.uptime = uptime
    }

    /// The time.
    var microseconds: Int64 {
        start + max(0, (uptime() - startUptime).microseconds)
    }
}

extension Duration {
    /// The duration in microseconds, at most 2^62.
    var microseconds: Int64 {
        let (seconds, attoseconds) = components
        guard seconds.magnitude < 1 << 42 else { return seconds < 0 ? -(1 << 62) : 1 << 62 }
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
