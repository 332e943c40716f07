package import DarkroomMachine
public import DarkroomNetwork
public import Foundation
public import HTTPTypes
public import NIOCore

/// Fetches originals.
public protocol OriginFetching: Sendable {
    /// Fetches a complete original. Canceling the task ends the transfer. Fetchers that receive originals in parts
    /// report each part to ``OriginRequest/onProgress``.
    ///
    /// - Returns: an original, or "not modified" if the request's validators were sent and match.
    /// - Throws: ``OriginError``. Nothing is cached, so another call starts a new request.
    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse

    /// The ``OriginResponse/sentFields`` of a response to this request without redirects. Default: the request's
    /// fields.
    func sentFields(for request: OriginRequest) -> HTTPFields

    /// Why a source is refused before any request, as far as it is known without a DNS lookup, or nil if it is not.
    /// Default: nil.
    func refusal(of source: SourceURL) -> OriginError?

    /// Removes the recorded outages of a host, or of all hosts if nil, so that requests are sent again. Default: no
    /// effect.
    func clearOutages(ofHost host: String?)

    /// Starts the waiting requests that may start now, because clients have joined them; see ``OriginRequest/clients``.
    /// Called on any thread; must return at once. Default: no effect.
    func startWaiting()
}

extension OriginFetching {
    public func sentFields(for request: OriginRequest) -> HTTPFields { request.headers }
    public func refusal(of source: SourceURL) -> OriginError? { nil }
    public func clearOutages(ofHost host: String?) {}
    public func startWaiting() {}
}

/// A request for an original.
public struct OriginRequest: Sendable {
    /// The priority of a download that waits for a slot.
    public enum Priority: Int, Comparable, Sendable {
        /// No client waits: background revalidation and prefetching.
        case background
        case low, normal, high

        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// The URL of the original.
    public var url: SourceURL
    /// Fields to send in addition to Darkroom's fields. They are removed after a redirect to another origin, because
    /// they may contain credentials. Fields that frame the message or that the fetcher sets (`Host`, `Via`,
    /// `Accept-Encoding`, `Range`, conditions, …) are ignored.
    public var headers: HTTPFields
    /// `If-None-Match` and `If-Modified-Since` of the known original. Other fields are ignored.
    public var validators: HTTPFields
    /// The ``SourceURL/canonical`` text of the URL that ``validators`` belong to. They are sent to this URL only, also
    /// after redirects, since equal tags of two URLs mean nothing. Nil: they are not sent.
    public var validatedURL: String?
    /// The fields of the operator for the host of ``url``.
    var operatorFields: HTTPFields = [:]
    /// The value of `Cookie` that the redirects so far have set; nil = none.
    var cookies: String?
    /// Returns the current priority, which may rise while the request waits. Called on any thread whenever a slot is
    /// free; must return at once and must not call a fetcher.
    public var urgency: @Sendable () -> Priority
    /// Receives the progress whenever a part of the original arrives, but not for redirects and errors. Called on any
    /// thread; must return at once and must not call a fetcher. Default: does nothing.
    public var onProgress: @Sendable (PartialOriginal) -> Void = { _ in }
    /// Returns the clients that the download is for, at least one; more may join while the request waits. Among
    /// downloads of equal priority, the client with the fewest running downloads goes first, and lookups of names are
    /// limited per client. The empty string counts as one client. Called like ``urgency``.
    public var clients: @Sendable () -> [String] = { [""] }

    /// A request, whose priority may change while it waits.
    public init(
        url: SourceURL, headers: HTTPFields = [:], validators: HTTPFields = [:], validatedURL: String? = nil,
        urgency: @escaping @Sendable () -> Priority = { .normal }
    ) {
        self.url = url
        self.headers = headers
        self.validators = validators
        self.validatedURL = validatedURL
        self.urgency = urgency
    }

    /// The first of the ``clients``, for what is counted for one client.
    var client: String { clients().first ?? "" }

    /// The validators to send to ``url``.
    var conditions: HTTPFields {
        guard let validatedURL, validatedURL == url.canonical else { return [:] }
        return validators.filter { $0.name == .ifNoneMatch || $0.name == .ifModifiedSince }
    }
}

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
