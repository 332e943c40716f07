import DarkroomNetwork
public import Foundation

extension HTTPDate {
    /// Reads any of the three forms that a recipient must accept (RFC 9110 §5.6.7): IMF-fixdate, RFC 850 and asctime.
    ///
    /// Nil for anything else, down to a second space or a missing digit; only the case of letters does not matter. Nil
    /// too for days that no month has. The day of the week must be there but is not checked against the date.
    ///
    /// The two-digit year of RFC 850 means the latest such year that is at most 50 years ahead.
    public init?(parsing text: String) {
        self.init(parsing: text, now: Date())
    }

    /// As above, with `now` as what "ahead" is reckoned from.
    public init?(parsing text: String, now: Date) {
        guard text.utf8.count <= Self.maxBytes else { return nil }
        let reader = DateReader(text)
        guard let parts = reader.fixdate() ?? reader.asctime() ?? reader.rfc850(now: now), parts.day.isReal,
            parts.day.year >= 1, parts.hour < 24, parts.minute < 60, parts.second <= 60
        else { return nil }
        self.init(day: parts.day, secondOfDay: parts.hour * 3600 + parts.minute * 60 + parts.second)
    }

    /// `Wednesday, 06-Nov-94 08:49:37 GMT`, the longest form, has fewer.
    private static let maxBytes = 40
}

/// Takes a date from the left, part by part; what was taken is gone even where a part fails.
private struct DateReader {
    struct Parts {
        var day: CivilDay
        var hour: Int
        var minute: Int
        /// 60 is a leap second.
        var second: Int
    }

    private var rest: ArraySlice<UInt8>

    init(_ text: String) {
        rest = ArraySlice(text.utf8)
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`
    func fixdate() -> Parts? {
        var reader = self
        guard reader.word(Self.days) != nil, reader.skip(", "), let day = reader.number(digits: 2), reader.skip(" "),
            let month = reader.word(HTTPDate.months), reader.skip(" "), let year = reader.number(digits: 4),
            reader.skip(" "), let time = reader.time(), reader.skip(" "), reader.isLast("GMT")
        else { return nil }
        return Parts(CivilDay(year: year, month: month + 1, day: day), time)
    }

    /// `Sun Nov  6 08:49:37 1994`
    func asctime() -> Parts? {
        var reader = self
        guard reader.word(Self.days) != nil, reader.skip(" "), let month = reader.word(HTTPDate.months),
            reader.skip(" "), let day = reader.skip(" ") ? reader.number(digits: 1) : reader.number(digits: 2),
            reader.skip(" "), let time = reader.time(), reader.skip(" "), let year = reader.number(digits: 4),
            reader.rest.isEmpty
        else { return nil }
        return Parts(CivilDay(year: year, month: month + 1, day: day), time)
    }

    /// `Sunday, 06-Nov-94 08:49:37 GMT`
    func rfc850(now: Date) -> Parts? {
        var reader = self
        guard reader.word(Self.longDays) != nil, reader.skip(", "), let day = reader.number(digits: 2),
            reader.skip("-"), let month = reader.word(HTTPDate.months), reader.skip("-"),
            let year = reader.number(digits: 2), reader.skip(" "), let time = reader.time(), reader.skip(" "),
            reader.isLast("GMT")
        else { return nil }
        return Parts(CivilDay(year: Self.fullYear(year, now: now), month: month + 1, day: day), time)
    }

    private mutating func time() -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = number(digits: 2), skip(":"), let minute = number(digits: 2), skip(":"),
            let second = number(digits: 2)
        else { return nil }
        return (hour, minute, second)
    }

    private mutating func skip(_ text: String) -> Bool {
        guard rest.starts(with: text.utf8) else { return false }
        rest = rest.dropFirst(text.utf8.count)
        return true
    }

    /// Which of the words comes next, in whatever case.
    private mutating func word(_ words: [String]) -> Int? {
        guard let index = words.firstIndex(where: startsWith) else { return nil }
        rest = rest.dropFirst(words[index].utf8.count)
        return index
    }

    private mutating func isLast(_ text: String) -> Bool { word([text]) != nil && rest.isEmpty }

    private func startsWith(_ word: String) -> Bool {
        // Only letters become letters by this bit, so nothing else can be taken for one.
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

extension DateReader.Parts {
    fileprivate init(_ day: CivilDay, _ time: (hour: Int, minute: Int, second: Int)) {
        self.init(day: day, hour: time.hour, minute: time.minute, second: time.second)
    }
}

extension CivilDay {
    /// Whether its month has such a day: 30 February comes back as another one.
    fileprivate var isReal: Bool { CivilDay(daysSince1970: daysSince1970) == self }
}
