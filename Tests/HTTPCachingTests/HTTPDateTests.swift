import Foundation
import Testing

@testable import DarkroomHTTPCaching

struct HTTPDateTests {
    private let example = Date(timeIntervalSince1970: 784_111_777)
    private let now = Date(timeIntervalSince1970: 1_790_000_000)

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "SUN, 06 nov 1994 08:49:37 gmt", "sunDAY, 06-NOV-94 08:49:37 Gmt", "sun nOV  6 08:49:37 1994",
    ])
    func `All three forms of RFC 9110 mean the same second`(text: String) {
        #expect(HTTPDate(parsing: text, now: now)?.date == example)
    }

    @Test(arguments: [
        "", "yesterday", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 2024 00:00:00 GMT",
        "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 1994 08:49:37 AEST",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT", "Sun, 06  Nov  1994 08:49:37 GMT",
        "Sun,  06 Nov 1994 08:49:37 GMT", "Sun,06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37GMT",
        "Son, 06 Nov 1994 08:49:37 GMT", "06 Nov 1994 08:49:37 GMT", "Sun, 06-Nov-94 08:49:37 GMT",
        "Sunday, 6-Nov-94 08:49:37 GMT", "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06 Nov 94 08:49:37 GMT",
        "Sun Nov 6 08:49:37 1994", "Sun Nov  06 08:49:37 1994", "Sun Nov  6 08:49:37 94", "Sun Nov  6 8:49:37 1994",
        "Sun, Nov  6 08:49:37 1994", "Sun Nov  6 08:49:37 1994 GMT", "0", "-1", "Sun\u{c}, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 999999999999999999 08:49:37 GMT",
        "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, 06 Nov 1994 08:-9:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT",
        "784111777", String(repeating: "9", count: 100_000),
    ])
    func `Anything else is no date`(text: String) {
        #expect(HTTPDate(parsing: text, now: now) == nil)
    }

    @Test func `asctime pads the day with a space and nothing else`() {
        #expect(HTTPDate(parsing: "Wed Nov 16 08:49:37 1994", now: now)?.description.hasPrefix("Wed, 16 Nov") == true)
        #expect(HTTPDate(parsing: "Sun Nov 06 08:49:37 1994", now: now)?.date == example)
    }

    @Test func `A two-digit year lies at most fifty years ahead`() {
        let year = { (text: String) in HTTPDate(parsing: "Sunday, 06-Nov-\(text) 08:49:37 GMT", now: now)?.description }
        #expect(year("76")?.contains("2076") == true)
        #expect(year("77")?.contains("1977") == true)
        #expect(year("00")?.contains("2000") == true)
    }

    @Test(arguments: [
        (0.0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777.9, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (-1, "Wed, 31 Dec 1969 23:59:59 GMT"), (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
        (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"), (.infinity, "Fri, 31 Dec 9999 23:59:59 GMT"),
        (-.infinity, "Mon, 01 Jan 0001 00:00:00 GMT"),
    ])
    func `Dates are written as IMF-fixdate`(seconds: Double, text: String) {
        #expect(HTTPDate(Date(timeIntervalSince1970: seconds)).description == text)
    }

    @Test func `What was written reads back, over the whole range`() {
        var numbers = SystemRandomNumberGenerator()
        for _ in 0..<2_000 {
            let second = Int.random(in: -62_135_596_800...253_402_300_799, using: &numbers)
            let date = HTTPDate(Date(timeIntervalSince1970: Double(second)))
            #expect(HTTPDate(parsing: date.description, now: now) == date)
        }
    }

    @Test func `The calendar agrees with Foundation's`() throws {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = try #require(TimeZone(identifier: "UTC"))
        for days in stride(from: -40_000, through: 100_000, by: 37) {
            let parts = calendar.dateComponents(
                [.year, .month, .day], from: Date(timeIntervalSince1970: Double(days) * 86_400))
            let day = CivilDay(daysSince1970: days)
            #expect(day.year == parts.year && day.month == parts.month && day.day == parts.day)
            #expect(day.daysSince1970 == days)
        }
    }
}
