import DarkroomQuery

/// How often a client may ask: so many requests at once, and as many again in each unit of time.
package struct Rate: Hashable, Sendable {
    /// Requests, at least 1.
    package let requests: Int
    /// The time in which the whole allowance comes back: a second, a minute or an hour.
    package let period: Duration

    /// Reads `20/s`, `600/m` or `1000/h`; nil = anything else. The number is 1 to 1,000,000.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let unit = Self.units.first(where: { $0.sign == parts[1] }),
            let requests = Digits.integer(String(parts[0])), (1...1_000_000).contains(requests)
        else { return nil }
        self.requests = requests
        period = unit.period
    }

    fileprivate static let units: [(sign: String, period: Duration, name: String)] = [
        ("s", .seconds(1), "second"), ("m", .seconds(60), "minute"), ("h", .seconds(3600), "hour"),
    ]
}

extension Rate: CustomStringConvertible {
    /// In words, as in `20 requests per second`.
    package var description: String {
        let unit = Self.units.first { $0.period == period }?.name ?? "\(period)"
        return "\(requests) request\(requests == 1 ? "" : "s") per \(unit)"
    }
}
