public import Foundation
public import HTTPTypes

/// What an origin said when it gave no original: enough to remember the refusal for as long as it wants (RFC 9111 §4.2).
public struct UnusableResponse: Hashable, Sendable {
    /// The status code as received.
    public let status: Int
    /// Only `Cache-Control`, `CDN-Cache-Control`, `Expires`, `Date`, `Age`, `Retry-After`, `Last-Modified` and `ETag`,
    /// and of those no more than ``maxFieldBytes`` in all, since refusals are kept for many sources.
    public let headers: HTTPFields
    /// When the request was sent: `request_time` of RFC 9111 §4.2.3.
    public let requestedAt: Date
    /// When the response head came in: `response_time` of RFC 9111 §4.2.3.
    public let receivedAt: Date

    /// The most that names and values of ``headers`` take; fields that would exceed it are left out.
    public static let maxFieldBytes = 2048

    private static let storedFieldNames: Set<String> = [
        "age", "cache-control", "cdn-cache-control", "date", "etag", "expires", "last-modified", "retry-after",
    ]

    /// - Parameter headers: all that were received.
    public init(status: Int, headers: HTTPFields = [:], requestedAt: Date, receivedAt: Date) {
        self.status = status
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        var room = Self.maxFieldBytes
        self.headers = headers.filtered { field in
            let size = field.name.rawName.utf8.count + field.value.utf8.count
            guard Self.storedFieldNames.contains(field.name.canonicalName), size <= room else { return false }
            room -= size
            return true
        }
    }
}
