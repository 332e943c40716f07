public import Foundation
public import HTTPTypes

/// A response as a cache keeps it: the head fields that matter, what it was asked with, and when.
public struct StoredResponse: Hashable, Sendable {
    /// The status that came with it.
    public var status: Int
    /// Those of `keptNames`, as they were received.
    public var fields: HTTPFields
    /// The values, as they were sent to the origin, of the fields that `Vary` names.
    public var requestFields: HTTPFields
    /// When the request left; `request_time` of RFC 9111 §4.2.3.
    public var requestedAt: Date
    /// When the head of the response came; `response_time` of RFC 9111 §4.2.3.
    public var receivedAt: Date
    /// From then on it counts as stale whatever its fields say: a soft purge.
    public var staleSince: Date?

    /// The names of the fields that are kept; nobody reads others.
    public static let keptNames: Set<HTTPField.Name> = [
        .age, .cacheControl, .cacheTag, .cdnCacheControl, .contentType, .date, .eTag, .expires, .lastModified,
        .retryAfter, .surrogateKey, .vary,
    ]

    /// - Parameters:
    ///   - fields: of the response; those of `keptNames` are kept.
    ///   - sent: the fields of the request to the origin; those that `Vary` names are kept.
    public init(status: Int, fields: HTTPFields, sent: HTTPFields, requestedAt: Date, receivedAt: Date) {
        self.status = status
        self.fields = HTTPFields(fields.filter { Self.keptNames.contains($0.name) })
        requestFields = HTTPFields()
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        staleSince = nil
        requestFields = nominated(of: sent)
    }
}
