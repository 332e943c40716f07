/// An amount per period: the size of a bucket that is charged after the fact, and the time in which it refills
/// completely.
package struct Allowance: Hashable, Sendable {
    /// Seconds or bytes, above 0.
    package let amount: Double
    /// Above 0.
    package let period: Duration

    package init(amount: Double, period: Duration) {
        self.amount = amount
        self.period = period
    }
}

/// The use of an allowance. Because the cost of a request is known only afterwards, a bucket can be overdrawn, at most
/// by the whole amount: so a wait is never longer than the period.
struct AllowanceBucket: Sendable {
    private var used = 0.0
    private var settledAt = Duration.zero

    /// Adds the cost of a request.
    mutating func charge(_ cost: Double, to allowance: Allowance, at now: Duration) {
        settle(allowance, at: now)
        used = min(used + cost, 2 * allowance.amount)
    }

    /// The time until a request may be made, above zero and at most the period; nil = it may be made now.
    mutating func wait(for allowance: Allowance, at now: Duration) -> Duration? {
        settle(allowance, at: now)
        let excess = used / allowance.amount - 1
        // Rounding must not refuse a request that waited exactly as long as it was told.
        guard excess > 1e-6 else { return nil }
        return .microseconds(Int64((allowance.period / .microseconds(1) * excess).rounded()))
    }

    /// The part of the allowance in use, 0 to 2; requests are refused above 1.
    mutating func usedRatio(of allowance: Allowance, at now: Duration) -> Double {
        settle(allowance, at: now)
        return used / allowance.amount
    }

    private mutating func settle(_ allowance: Allowance, at now: Duration) {
        let refilled = allowance.amount * (max(.zero, now - settledAt) / allowance.period)
        // A reload may have lowered the amount.
        used = min(max(0, used - refilled), 2 * allowance.amount)
        settledAt = max(settledAt, now)
    }
}
