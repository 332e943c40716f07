public import Foundation

extension HTTPDate {
    /// Reads any of the three forms that a recipient must accept (RFC 9110 §5.6.7): IMF-fixdate, RFC 850 and asctime.
    ///
    /// Nil for anything else, for days that no month has, and for a name of a month that is not English. The day of the
    /// week must be there but is not checked against the date.
    ///
    /// The two-digit year of RFC 850 means the latest such year that is at most 50 years ahead.
    public init?(parsing text: String) {
        self.init(parsing: text, now: Date())
    }

    /// As above, with `now` as what "ahead" is reckoned from.
    public init?(parsing text: String, now: Date) {
        guard text.utf8.count <= 40 else { return nil }
        let words = text.split(separator: " ", omittingEmptySubsequences: true)
        let fields: (day: Substring, month: Substring, year: Substring, time: Substring)
        switch words.count {
        case 6 where words[0].hasSuffix(",") && words[5] == "GMT":
            fields = (words[1], words[2], words[3], words[4])
        case 4 where words[0].hasSuffix(",") && words[3] == "GMT":
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false)
            guard date.count == 3, date[2].utf8.count == 2 else { return nil }
            fields = (date[0], date[1], date[2], words[2])
        case 5:
            fields = (words[2], words[1], words[4], words[3])
        default:
            return nil
        }
        guard let day = Self.day(fields.day, fields.month, fields.year, now: now),
            let second = Self.secondOfDay(fields.time)
        else { return nil }
        self.init(day: day, secondOfDay: second)
    }

    private static func day(_ day: Substring, _ month: Substring, _ year: Substring, now: Date) -> CivilDay? {
        guard let month = months.firstIndex(of: String(month)), let stated = number(day, digits: 1...2) else {
            return nil
        }
        let fullYear = number(year, digits: 4...4) ?? number(year, digits: 2...2).map { Self.fullYear($0, now: now) }
        guard let fullYear, fullYear >= 1 else { return nil }
        let day = CivilDay(year: fullYear, month: month + 1, day: stated)
        // A day such as 30 February comes back as another one.
        return CivilDay(daysSince1970: day.daysSince1970) == day ? day : nil
    }

    private static func fullYear(_ lastDigits: Int, now: Date) -> Int {
        let days = Int((HTTPDate(now).date.timeIntervalSince1970 / 86_400).rounded(.down))
        let latest = CivilDay(daysSince1970: days).year + 50
        let century = latest - latest % 100
        return century + lastDigits <= latest ? century + lastDigits : century - 100 + lastDigits
    }

    /// `hh:mm:ss`; 60 seconds are a leap second.
    private static func secondOfDay(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).compactMap {
            number($0, digits: 2...2)
        }
        guard parts.count == 3, parts[0] < 24, parts[1] < 60, parts[2] <= 60 else { return nil }
        return parts[0] * 3600 + parts[1] * 60 + parts[2]
    }

    private static func number(_ text: Substring, digits: ClosedRange<Int>) -> Int? {
        guard digits.contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
