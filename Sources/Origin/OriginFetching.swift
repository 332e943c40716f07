public import DarkroomNetwork
public import Foundation
public import HTTPTypes
public import NIOCore

/// Brings the bytes of an original from wherever its URL points.
public protocol OriginFetching: Sendable {
    /// Fetches once, whole or not at all. Cancelling the task ends the transfer. A fetcher whose originals come in pieces tells
    /// ``OriginRequest/onProgress`` of them.
    ///
    /// - Returns: an original, or "not modified" where the request's validators were sent and are still right.
    /// - Throws: ``OriginError``; no answer is kept, so asking again starts anew.
    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse

    /// The ``OriginResponse/sentFields`` that a response to this request would have, if its own URL answered. By default the
    /// request's own fields.
    func sentFields(for request: OriginRequest) -> HTTPFields

    /// Why a source would be refused before anybody is asked, as far as that can be told without looking up a name; nil = it
    /// would not. By default nothing is refused.
    func refusal(of source: SourceURL) -> OriginError?

    /// Asks a host again that is left alone because it could not be reached; nil = all hosts. By default there is none.
    func clearOutages(ofHost host: String?)
}

extension OriginFetching {
    public func sentFields(for request: OriginRequest) -> HTTPFields { request.headers }
    public func refusal(of source: SourceURL) -> OriginError? { nil }
    public func clearOutages(ofHost host: String?) {}
}

/// A complete original, or the word that a known one is still right, and what its origin said about it.
public struct OriginResponse: Sendable {
    /// The URL that answered, after redirects.
    public var url: SourceURL
    /// 200, 203, or 304 where validators were sent.
    public var status: HTTPResponse.Status
    /// The header fields as received. Origins choose them: they are as hostile as the body.
    public var headers: HTTPFields
    /// The whole body: empty if and only if ``isNotModified``.
    public var body: ByteBuffer
    /// When the request for ``url`` was sent: `request_time` of RFC 9111 §4.2.3.
    public var requestedAt: Date
    /// When its response head came in: `response_time` of RFC 9111 §4.2.3.
    public var receivedAt: Date
    /// The fields of the request for ``url`` that can have chosen between representations, for `Vary`
    /// (RFC 9111 §4.1): our own and the caller's, without `Host`, `Via` and validators.
    public var sentFields: HTTPFields
    /// Keeps the body counted among the bytes in flight; nil = it is not.
    package var hold: ByteReservation?

    /// A response as a fetcher builds it, or as a delegate rewrites it.
    public init(
        url: SourceURL, status: HTTPResponse.Status, headers: HTTPFields, body: ByteBuffer, requestedAt: Date,
        receivedAt: Date, sentFields: HTTPFields = [:]
    ) {
        self.url = url
        self.status = status
        self.headers = headers
        self.body = body
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        self.sentFields = sentFields
    }

    /// Whether the original that the request's validators belong to is still right (304).
    public var isNotModified: Bool { status.code == 304 }
}
