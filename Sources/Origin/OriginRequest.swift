public import DarkroomNetwork
public import HTTPTypes

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
