import DarkroomNetwork
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

extension HTTPDate {
    /// Reads any of the three forms that a recipient must accept (RFC 9110 §5.6.7): IMF-fixdate, RFC 850 and asctime.
    ///
    /// Nil for anything else, including a second space, a missing digit, and days that the month does not have. Letter
    /// case is ignored. The day of the week is required but not compared with the date.
    ///
    /// A two-digit year of RFC 850 is the latest such year that is at most 50 years after `now`.
    public init?(parsing text: String, now: Date = Date()) {
        guard text.utf8.count <= Self.maxBytes else { return nil }
        let reader = DateReader(text)
        guard let parts = reader.fixdate() ?? reader.asctime() ?? reader.rfc850(now: now), parts.day.year >= 1,
            parts.day.isReal
        else { return nil }
        self.init(Date(timeIntervalSince1970: Double(parts.day.daysSince1970 * 86_400 + parts.second)))
    }

    /// More bytes than the longest form has, `Wednesday, 06-Nov-94 08:49:37 GMT`.
    private static let maxBytes = 40
}

/// A cursor over a date that takes its parts from the front. A failed form leaves it anywhere, so each form reads a
/// copy.
private struct DateReader {
    typealias Parts = (day: CivilDay, second: Int)

    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = ArraySlice(text.utf8)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    func fixdate() -> Parts? { dashed(Self.days, " ") { $0.number(digits: 4) } }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    func rfc850(now: Date) -> Parts? {
        dashed(Self.longDays, "-") { $0.number(digits: 2).map { Self.fullYear($0, now: now) } }
    }

    private func dashed(_ weekdays: [String], _ dash: String, year: (inout DateReader) -> Int?) -> Parts? {
        var reader = self
        guard reader.word(weekdays) != nil, reader.skip(", "), let day = reader.number(digits: 2), reader.skip(dash),
            let month = reader.word(HTTPDate.months), reader.skip(dash), let year = year(&reader), reader.skip(" "),
            let time = reader.time(), reader.skip(" "), reader.isLast("GMT")
        else { return nil }
        return (CivilDay(year: year, month: month + 1, day: day), time)
    }

    /// `Sun Nov  6 08:49:37 1994`
    func asctime() -> Parts? {
        var reader = self
        guard reader.word(Self.days) != nil, reader.skip(" "), let month = reader.word(HTTPDate.months),
            reader.skip(" "), let day = reader.skip(" ") ? reader.number(digits: 1) : reader.number(digits: 2),
            reader.skip(" "), let time = reader.time(), reader.skip(" "), let year = reader.number(digits: 4),
            reader.rest.isEmpty
        else { return nil }
        return (CivilDay(year: year, month: month + 1, day: day), time)
    }

    /// A time as the second of its day. Second 60 is a leap second.
    private mutating func time() -> Int? {
        guard let hour = number(digits: 2), hour < 24, skip(":"), let minute = number(digits: 2), minute < 60,
            skip(":"), let second = number(digits: 2), second <= 60
        else { return nil }
        return hour * 3600 + minute * 60 + second
    }

    private mutating func skip(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// Takes one of the words, in any letter case, and returns its index.
    private mutating func word(_ words: [String]) -> Int? {
        guard let index = words.firstIndex(where: startsWith) else { return nil }
        rest = rest.dropFirst(words[index].utf8.count)
        return index
    }

    private mutating func isLast(_ text: String) -> Bool { word([text]) != nil && rest.isEmpty }

    private func startsWith(_ word: String) -> Bool {
        // This bit turns only letters into letters, so no other byte can match one.
        rest.prefix(word.utf8.count).lazy.map { $0 | 0x20 }.elementsEqual(word.utf8.lazy.map { $0 | 0x20 })
    }

    private mutating func number(digits: Int) -> Int? {
        let text = rest.prefix(digits)
        guard text.count == digits, text.allSatisfy(\.isASCIIDigit) else { return nil }
        rest = rest.dropFirst(digits)
        return text.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    private static func fullYear(_ lastDigits: Int, now: Date) -> Int {
        let days = Int((HTTPDate(now).date.timeIntervalSince1970 / 86_400).rounded(.down))
        let latest = CivilDay(daysSince1970: days).year + 50
        let century = latest - latest % 100
        return century + lastDigits <= latest ? century + lastDigits : century - 100 + lastDigits
    }

    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longDays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]
}

extension CivilDay {
    /// Whether the month has this day: 30 February converts to another day.
    fileprivate var isReal: Bool { CivilDay(daysSince1970: daysSince1970) == self }
}
