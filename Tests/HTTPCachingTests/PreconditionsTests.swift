import DarkroomHTTPCaching
import Foundation
import HTTPTypes
import Testing

struct PreconditionsTests {
    private static let modified = "Sun, 06 Nov 1994 08:49:37 GMT"
    private let tag = EntityTag("abc")

    struct Row: Sendable {
        var noneMatch: String?
        var modifiedSince: String?
        var method = HTTPRequest.Method.get
        var lastModified: String? = PreconditionsTests.modified
        var outcome: Preconditions.Outcome
    }

    @Test(arguments: [
        Row(outcome: .proceed),
        Row(noneMatch: #""abc""#, outcome: .notModified),
        Row(noneMatch: #""abc""#, method: .head, outcome: .notModified),
        Row(noneMatch: #""abc""#, method: .post, outcome: .proceed),
        Row(noneMatch: "*", outcome: .notModified),
        Row(noneMatch: #""other""#, outcome: .proceed),
        Row(modifiedSince: modified, outcome: .notModified),
        Row(modifiedSince: "Sun, 06 Nov 1994 08:49:38 GMT", outcome: .notModified),
        Row(modifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT", outcome: .proceed),
        Row(modifiedSince: "never", outcome: .proceed),
        Row(modifiedSince: modified, lastModified: nil, outcome: .proceed),
        // The tag decides even where the date says otherwise, and where the tag is nonsense.
        Row(noneMatch: #""other""#, modifiedSince: modified, outcome: .proceed),
        Row(noneMatch: #""abc""#, modifiedSince: "Sun, 06 Nov 1994 08:49:36 GMT", outcome: .notModified),
        Row(noneMatch: "abc", modifiedSince: modified, outcome: .proceed),
    ])
    func `The tag decides, or else the date`(row: Row) {
        var fields = HTTPFields()
        fields[.ifNoneMatch] = row.noneMatch
        fields[.ifModifiedSince] = row.modifiedSince
        let lastModified = row.lastModified.flatMap { HTTPDate(parsing: $0) }?.date
        let outcome = Preconditions.evaluate(
            method: row.method, fields: fields, tag: tag, lastModified: lastModified)
        #expect(outcome == row.outcome)
    }

    @Test func `A fraction of a second does not make a picture newer than the date it was sent with`() throws {
        let date = try #require(HTTPDate(parsing: Self.modified)).date.addingTimeInterval(0.7)
        let outcome = Preconditions.evaluate(
            method: .get, fields: [.ifModifiedSince: Self.modified], tag: tag, lastModified: date)
        #expect(outcome == .notModified)
    }
}
