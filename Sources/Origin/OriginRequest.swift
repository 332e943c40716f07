public import DarkroomNetwork
public import HTTPTypes

/// What to ask an origin for.
public struct OriginRequest: Sendable {
    /// Who goes first where downloads wait for a slot.
    public enum Priority: Int, Comparable, Sendable {
        /// Nobody waits for the answer: revalidation behind a stale answer, prefetching.
        case background
        case low, normal, high

        /// Lower priorities come first.
        public static func < (left: Priority, right: Priority) -> Bool { left.rawValue < right.rawValue }
    }

    /// Where the original is.
    public var url: SourceURL
    /// Fields to send beside our own. They are left out after a redirect to another origin, since they may hold
    /// secrets; those that frame the message or that the fetcher answers for (`Host`, `Via`, `Accept-Encoding`,
    /// `Range`, conditions, …) are ignored.
    public var headers: HTTPFields
    /// `If-None-Match` and `If-Modified-Since` for the original that is known; other fields are ignored.
    public var validators: HTTPFields
    /// The ``SourceURL/canonical`` text of the URL that answered with the original which ``validators`` belong to. They
    /// are sent to it, whether it is asked first or after redirects, and to no other URL: equal tags of two URLs mean
    /// nothing. Nil: they are not sent.
    public var validatedURL: String?
    /// Where the request stands in line, asked whenever a slot comes free: it may rise while waiting. It must answer at
    /// once, from any thread, and must not call a fetcher.
    public var urgency: @Sendable () -> Priority
    /// Told of every piece of the original that comes in, with all that came before it; not of redirects' and errors'
    /// bodies. It must return at once, from any thread, and must not call a fetcher. Nobody is told by default.
    public var onProgress: @Sendable (PartialOriginal) -> Void = { _ in }
    /// Whom the download is for: among equally urgent ones that wait, the client with the fewest under way goes first. "" = nobody
    /// in particular, which counts as one client.
    public var client = ""

    /// A request whose priority may change while it waits.
    public init(
        url: SourceURL, headers: HTTPFields = [:], validators: HTTPFields = [:], validatedURL: String? = nil,
        urgency: @escaping @Sendable () -> Priority
    ) {
        self.url = url
        self.headers = headers
        self.validators = validators
        self.validatedURL = validatedURL
        self.urgency = urgency
    }

    /// A request of one priority.
    public init(
        url: SourceURL, headers: HTTPFields = [:], validators: HTTPFields = [:], validatedURL: String? = nil,
        priority: Priority = .normal
    ) {
        self.init(url: url, headers: headers, validators: validators, validatedURL: validatedURL) { priority }
    }

    /// The validators that ``url`` may see.
    var conditions: HTTPFields {
        guard validatedURL == url.canonical else { return [:] }
        return validators.filtered { $0.name == .ifNoneMatch || $0.name == .ifModifiedSince }
    }
}

extension HTTPFields {
    /// The fields that a predicate picks, in their order.
    func filtered(_ isIncluded: (HTTPField) -> Bool) -> HTTPFields {
        var picked = HTTPFields()
        for field in self where isIncluded(field) { picked.append(field) }
        return picked
    }
}
