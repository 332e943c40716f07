public import Foundation

/// A date in HTTP fields (RFC 9110 §5.6.7), in whole seconds, in the years 1…9999.
public struct HTTPDate: Hashable, Sendable {
    /// The date, a whole number of seconds.
    public let date: Date

    /// Rounds down to a second and clamps to the years 1…9999.
    public init(_ date: Date) {
        let seconds = min(max(date.timeIntervalSince1970.rounded(.down), Self.earliest), Self.latest)
        self.date = Date(timeIntervalSince1970: seconds)
    }

    /// The first second of year 1 and the last of year 9999.
    private static let earliest = Double(CivilDay(year: 1, month: 1, day: 1).daysSince1970 * 86_400)
    private static let latest = Double(CivilDay(year: 9999, month: 12, day: 31).daysSince1970 * 86_400 + 86_399)

    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    /// 1970-01-01 was a Thursday.
    private static let weekdaysFrom1970 = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]
}

extension HTTPDate: CustomStringConvertible {
    /// IMF-fixdate, the only form that is sent: `Sun, 06 Nov 1994 08:49:37 GMT`.
    public var description: String {
        let seconds = Int(date.timeIntervalSince1970)
        let days = Int((Double(seconds) / 86_400).rounded(.down))
        let second = seconds - days * 86_400
        let day = CivilDay(daysSince1970: days)
        let weekday = Self.weekdaysFrom1970[(days % 7 + 7) % 7]
        let date = "\(Self.digits(day.day, 2)) \(Self.months[day.month - 1]) \(Self.digits(day.year, 4))"
        let time = [second / 3600, second / 60 % 60, second % 60].map { Self.digits($0, 2) }.joined(separator: ":")
        return "\(weekday), \(date) \(time) GMT"
    }

    private static func digits(_ number: Int, _ count: Int) -> String {
        let text = String(number)
        return String(repeating: "0", count: max(0, count - text.count)) + text
    }
}

/// A day of the Gregorian calendar in the year 1 or later, independent of time zones and locales.
struct CivilDay: Hashable {
    var year: Int
    /// 1…12.
    var month: Int
    /// From 1.
    var day: Int
}

/// Calculates with years that begin on 1 March, so that the leap day is their last day.
extension CivilDay {
    init(daysSince1970 days: Int) {
        let (era, dayOfEra) = (days + Self.daysBefore1970).quotientAndRemainder(dividingBy: Self.daysOfEra)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }

    var daysSince1970: Int {
        let (era, yearOfEra) = (month <= 2 ? year - 1 : year).quotientAndRemainder(dividingBy: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * Self.daysOfEra + dayOfEra - Self.daysBefore1970
    }

    /// The days of 400 years, after which the calendar repeats.
    private static let daysOfEra = 146_097
    /// The days from 1 March of year 0 to 1 January 1970.
    private static let daysBefore1970 = 719_468
}
