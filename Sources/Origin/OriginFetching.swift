public import Foundation
public import HTTPTypes
public import NIOCore

/// Brings the bytes of an original from wherever its URL points.
public protocol OriginFetching: Sendable {
    /// Fetches once, whole or not at all. Cancelling the task ends the transfer.
    ///
    /// - Throws: ``OriginError``; nothing is cached, so asking again starts anew.
    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse
}

/// What to ask an origin for.
public struct OriginRequest: Sendable {
    /// Who goes first where downloads wait for a slot.
    public enum Priority: Int, Comparable, Sendable {
        case low, normal, high

        /// Lower priorities come first.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// Where the original is.
    public var url: SourceURL
    /// Fields to send beside our own. They are left out after a redirect to another origin, since they may hold
    /// secrets; those that frame the message or that the fetcher answers for (`Host`, `Via`, `Accept-Encoding`,
    /// `Range`, …) are ignored.
    public var headers: HTTPFields
    /// Where it stands in line; it does not change while waiting. Default: normal.
    public var priority: Priority

    /// A request with no fields but the fetcher's own, unless given.
    public init(url: SourceURL, headers: HTTPFields = [:], priority: Priority = .normal) {
        self.url = url
        self.headers = headers
        self.priority = priority
    }
}

/// A complete original and what its origin said about it.
public struct OriginResponse: Sendable {
    /// The URL that answered, after redirects.
    public var url: SourceURL
    /// A success with content (2xx, but not 204, 205 or 206).
    public var status: HTTPResponse.Status
    /// The header fields as received. Origins choose them: they are as hostile as the body.
    public var headers: HTTPFields
    /// The whole body, never empty.
    public var body: ByteBuffer
    /// When the request for ``url`` was sent: `request_time` of RFC 9111 §4.2.3.
    public var requestedAt: Date
    /// When its response head came in: `response_time` of RFC 9111 §4.2.3.
    public var receivedAt: Date

    /// A response as a fetcher builds it, or as a delegate rewrites it.
    public init(
        url: SourceURL, status: HTTPResponse.Status, headers: HTTPFields, body: ByteBuffer, requestedAt: Date,
        receivedAt: Date
    ) {
        self.url = url
        self.status = status
        self.headers = headers
        self.body = body
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
    }
}
