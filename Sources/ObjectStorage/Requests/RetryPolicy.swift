/// How often and when a request is sent again, after the store asked for fewer requests or failed (429, 500, 503), or
/// the connection was reset.
///
/// Pauses are random between zero and a limit that doubles with each attempt ("full jitter"), so that clients that
/// failed together do not return together.
package struct RetryPolicy: Hashable, Sendable {
    /// The largest number of attempts, at least 1.
    package var maxAttempts: Int
    /// The limit of the first pause.
    package var firstPause: Duration
    /// The limit of all pauses.
    package var maxPause: Duration

    /// By default, three attempts, with pauses of up to 50 and 100 ms.
    package init(
        maxAttempts: Int = 3, firstPause: Duration = .milliseconds(50), maxPause: Duration = .seconds(2)
    ) {
        self.maxAttempts = maxAttempts
        self.firstPause = firstPause
        self.maxPause = maxPause
    }

    /// The pause after a failed attempt.
    ///
    /// - Parameters:
    ///   - attempt: the number of failed attempts, from 1.
    ///   - random: from 0 to 1.
    ///   - retryAfter: the shortest pause, as the store asked for it.
    ///   - remaining: the time until the operation's limit.
    /// - Returns: nil if there is no other attempt, or no time for it.
    func pause(
        afterAttempt attempt: Int, random: Double, retryAfter: Duration?, remaining: Duration
    ) -> Duration? {
        guard attempt < maxAttempts else { return nil }
        let doubled = firstPause * (1 << min(max(attempt, 1) - 1, 20))
        let pause = max(min(doubled, maxPause) * random, retryAfter ?? .zero)
        return pause < remaining ? pause : nil
    }
}
