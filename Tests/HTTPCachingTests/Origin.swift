import Foundation
import HTTPTypes

@testable import DarkroomHTTPCaching

/// Responses of an origin, as a table writes them.
enum Origin {
    /// When the response came, to the second.
    static let now = Date(timeIntervalSince1970: 1_790_000_000)

    /// - Parameters:
    ///   - fields: lines of a head: `Cache-Control: max-age=60`.
    ///   - date: of the `Date` field, relative to `now`; nil for none.
    static func response(
        _ fields: [String], date: Int? = 0, status: Int = 200, sent: [String] = [], delay: TimeInterval = 0
    ) -> StoredResponse {
        var head = Self.fields(fields)
        if let date { head[.date] = Self.date(date) }
        return StoredResponse(
            status: status, fields: head, sent: Self.fields(sent), requestedAt: now.addingTimeInterval(-delay),
            receivedAt: now)
    }

    static func fields(_ lines: [String]) -> HTTPFields {
        var fields = HTTPFields()
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = HTTPField.Name(String(parts[0])) else { preconditionFailure("'\(line)' is no field") }
            fields.append(HTTPField(name: name, value: parts[1].trimmingCharacters(in: .whitespaces)))
        }
        return fields
    }

    /// That many seconds from `now`, as HTTP writes it.
    static func date(_ seconds: Int) -> String { HTTPDate(now.addingTimeInterval(TimeInterval(seconds))).description }

    static func later(_ seconds: TimeInterval) -> Date { now.addingTimeInterval(seconds) }
}
