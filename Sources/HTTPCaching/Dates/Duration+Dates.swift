import Foundation

extension Duration {
    /// From one date to the other, negative where that lies before; dates are kept from overflowing it.
    init(from start: Date, to end: Date) {
        let seconds = end.timeIntervalSince(start)
        self = .seconds(seconds.isNaN ? 0 : min(max(seconds, -Self.longestSpan), Self.longestSpan))
    }

    /// In seconds, and more than lies between any two dates that HTTP can write.
    private static let longestSpan = 1e12
}
