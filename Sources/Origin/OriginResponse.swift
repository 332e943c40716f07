package import DarkroomMachine
public import DarkroomNetwork
public import Foundation
public import HTTPTypes
public import NIOCore

/// A complete original, or "not modified" for a known original, with the origin's header fields.
public struct OriginResponse: Sendable {
    /// The URL that answered, after redirects.
    public var url: SourceURL
    /// A success other than 204, 205 and 206, or 304 if validators were sent. A 206 with the complete range is 200.
    public var status: HTTPResponse.Status
    /// The header fields as received, as untrusted as the body.
    public var headers: HTTPFields
    /// The complete body. Empty if and only if ``isNotModified``.
    public var body: ByteBuffer {
        get { content.buffer }
        set { content = SharedBytes(newValue) }
    }
    /// The same bytes in the form in which they arrived.
    package var content: SharedBytes
    /// When the request for ``url`` was sent: `request_time` of RFC 9111 §4.2.3.
    public var requestedAt: Date
    /// When its response head came in: `response_time` of RFC 9111 §4.2.3.
    public var receivedAt: Date
    /// The fields of the request for ``url`` that can have selected the representation, for `Vary` (RFC 9111 §4.1):
    /// Darkroom's fields and the caller's, without `Host`, `Via` and validators.
    public var sentFields: HTTPFields
    /// Counts the body among the in-flight bytes. Nil if it is not counted.
    package var reservation: ByteReservation?

    /// Creates a response, in a fetcher or in a delegate that rewrites one.
    public init(
        url: SourceURL, status: HTTPResponse.Status, headers: HTTPFields, body: ByteBuffer, requestedAt: Date,
        receivedAt: Date, sentFields: HTTPFields = [:]
    ) {
        self.init(
            url: url, status: status, headers: headers, content: SharedBytes(body), requestedAt: requestedAt,
            receivedAt: receivedAt, sentFields: sentFields)
    }

    init(
        url: SourceURL, status: HTTPResponse.Status, headers: HTTPFields, content: SharedBytes, requestedAt: Date,
        receivedAt: Date, sentFields: HTTPFields = [:]
    ) {
        self.url = url
        self.status = status
        self.headers = headers
        self.content = content
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        self.sentFields = sentFields
    }

    /// Whether the original that the request's validators name is unchanged (304).
    public var isNotModified: Bool { status.code == 304 }
}

/// How much of an original has arrived during its download.
public struct PartialOriginal: Hashable, Sendable {
    /// The number of bytes received so far.
    public let receivedBytes: Int
    /// The announced length in bytes, at least 1, or nil if unknown.
    public let expectedBytes: Int?

    /// A partial original that a fetcher reports.
    public init(receivedBytes: Int, expectedBytes: Int?) {
        self.receivedBytes = receivedBytes
        self.expectedBytes = expectedBytes
    }
}

/// The head of a response without a usable original: enough to cache the failure for as long as the origin allows
/// (RFC 9111 §4.2).
public struct UnusableResponse: Hashable, Sendable {
    /// The status code as received.
    public let status: Int
    /// `Cache-Control`, `CDN-Cache-Control`, `Expires`, `Date`, `Age`, `Retry-After`, `Last-Modified` and `ETag`, in
    /// all at most ``maxFieldBytes``, since failures are cached for many sources.
    public let headers: HTTPFields
    /// When the request was sent: `request_time` of RFC 9111 §4.2.3.
    public let requestedAt: Date
    /// When the response head arrived: `response_time` of RFC 9111 §4.2.3.
    public let receivedAt: Date

    /// The greatest size of all names and values of ``headers`` in bytes. Fields that would exceed it are left out.
    public static let maxFieldBytes = 2048

    private static let storedFieldNames: Set<String> = [
        "age", "cache-control", "cdn-cache-control", "date", "etag", "expires", "last-modified", "retry-after",
    ]

    /// A response without a usable original.
    ///
    /// - Parameter headers: all fields received.
    public init(status: Int, headers: HTTPFields = [:], requestedAt: Date, receivedAt: Date) {
        self.status = status
        self.requestedAt = requestedAt
        self.receivedAt = receivedAt
        var remainingBytes = Self.maxFieldBytes
        self.headers = headers.filter { field in
            let size = field.name.rawName.utf8.count + field.value.utf8.count
            guard Self.storedFieldNames.contains(field.name.canonicalName), size <= remainingBytes else { return false }
            remainingBytes -= size
            return true
        }
    }
}
