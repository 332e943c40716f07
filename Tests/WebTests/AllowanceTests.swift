import Testing

@testable import DarkroomWeb

/// The bucket of a quota, which is charged after the fact.
struct AllowanceTests {
    private static let hour = Allowance(amount: 600, period: .seconds(3600))

    @Test(
        arguments: [
            // Cost, time until the question, expected wait.
            (0, 0, nil), (599, 0, nil), (600, 0, nil), (601, 0, 6), (900, 0, 1800), (900, 1799, 1), (900, 1800, nil),
            (1200, 0, 3600), (1_000_000_000, 0, 3600), (1_000_000_000, 3599, 1), (1_000_000_000, 3600, nil),
        ] as [(Double, Int, Int?)])
    func `A wait lasts until the excess has refilled, and never longer than the period`(
        cost: Double, after: Int, wait: Int?
    ) {
        var bucket = AllowanceBucket()
        bucket.charge(cost, to: Self.hour, at: .seconds(10))
        let expected = wait.map { Duration.seconds($0) }
        let found = bucket.wait(for: Self.hour, at: .seconds(10 + after))
        #expect((found == nil) == (expected == nil))
        if let found, let expected { #expect(abs((found - expected) / .seconds(1)) < 1e-6) }
    }

    @Test func `A bucket refills continuously, and not beyond the amount`() {
        var bucket = AllowanceBucket()
        bucket.charge(600, to: Self.hour, at: .zero)
        #expect(abs(bucket.usedRatio(of: Self.hour, at: .seconds(900)) - 0.75) < 1e-9)
        #expect(bucket.usedRatio(of: Self.hour, at: .seconds(7200)) == 0)
        // Idle time is not saved up.
        bucket.charge(601, to: Self.hour, at: .seconds(100_000))
        #expect(bucket.wait(for: Self.hour, at: .seconds(100_000)) != nil)
    }

    @Test func `A lower amount bounds what was used before`() {
        var bucket = AllowanceBucket()
        bucket.charge(1000, to: Self.hour, at: .zero)
        let less = Allowance(amount: 1, period: .seconds(60))
        #expect(bucket.wait(for: less, at: .zero) == .seconds(60))
        #expect(bucket.wait(for: less, at: .seconds(60)) == nil)
    }

    @Test func `Time that goes backward refills nothing`() {
        var bucket = AllowanceBucket()
        bucket.charge(900, to: Self.hour, at: .seconds(100))
        #expect(bucket.wait(for: Self.hour, at: .seconds(50)) == bucket.wait(for: Self.hour, at: .seconds(100)))
    }
}
