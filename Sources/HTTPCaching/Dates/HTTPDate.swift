public import Foundation

/// A date as HTTP writes it (RFC 9110 §5.6.7), to the second, in the years 1…9999.
public struct HTTPDate: Hashable, Sendable {
    /// A whole number of seconds.
    public let date: Date

    /// Fractions of a second are dropped; dates outside the years that HTTP can write become the nearest that it can.
    public init(_ date: Date) {
        let seconds = min(max(date.timeIntervalSince1970.rounded(.down), Self.earliest), Self.latest)
        self.date = Date(timeIntervalSince1970: seconds)
    }

    init(day: CivilDay, secondOfDay: Int) {
        self.date = Date(timeIntervalSince1970: Double(day.daysSince1970 * 86_400 + secondOfDay))
    }

    /// The first second of year 1 and the last of year 9999.
    private static let earliest = Double(CivilDay(year: 1, month: 1, day: 1).daysSince1970 * 86_400)
    private static let latest = Double(CivilDay(year: 9999, month: 12, day: 31).daysSince1970 * 86_400 + 86_399)

    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    /// 1970-01-01 was a Thursday.
    private static let weekdaysFrom1970 = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
}

extension HTTPDate: CustomStringConvertible {
    /// IMF-fixdate, the one form that is sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var description: String {
        let seconds = Int(date.timeIntervalSince1970)
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        let second = seconds - days * 86_400
        let day = CivilDay(daysSince1970: days)
        let weekday = Self.weekdaysFrom1970[(days % 7 + 7) % 7]
        let date = "\(Self.digits(day.day, 2)) \(Self.months[day.month - 1]) \(Self.digits(day.year, 4))"
        let time = [second / 3600, second / 60 % 60, second % 60].map { Self.digits($0, 2) }.joined(separator: ":")
        return
            "\(weekday), \(date) \(time) GMT"
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}
