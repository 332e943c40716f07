import DarkroomNetwork

/// How a cache handled a request: one member of a `Cache-Status` field (RFC 9211).
public struct CacheStatus: Hashable, Sendable {
    /// Whether the cache answered the request itself.
    public enum Outcome: Hashable, Sendable {
        /// The cache answered (RFC 9211 §2.1).
        case hit
        /// The cache forwarded the request (RFC 9211 §2.2).
        case forwarded(Reason)
    }

    /// Why the request was forwarded (RFC 9211 §2.2).
    public enum Reason: String, Hashable, Sendable {
        case bypass, method, miss, request, stale, partial
        case varyMiss = "vary-miss"
    }

    /// The cache's name, a structured field token such as `darkroom`.
    public var cache: Name
    /// Whether the cache answered the request itself.
    public var outcome: Outcome
    /// The status of the response to the forwarded request, such as 304.
    public var forwardStatus: Int?
    /// The remaining freshness lifetime in seconds. Negative if the response is stale.
    public var ttl: Int?
    /// Whether the response was stored.
    public var isStored: Bool
    /// Whether the request was collapsed with another forwarded request.
    public var isCollapsed: Bool
    /// Additional information, in the cache's own vocabulary.
    public var detail: Name?

    /// A member with the given parameters.
    public init(
        cache: Name, _ outcome: Outcome, forwardStatus: Int? = nil, ttl: Int? = nil, isStored: Bool = false,
        isCollapsed: Bool = false, detail: Name? = nil
    ) {
        self.cache = cache
        self.outcome = outcome
        self.forwardStatus = forwardStatus
        self.ttl = ttl
        self.isStored = isStored
        self.isCollapsed = isCollapsed
        self.detail = detail
    }

    /// A structured field token (RFC 9651 §3.3.4) of a restricted alphabet.
    public struct Name: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The token.
        public let text: String

        /// Nil unless the text is a letter followed by letters, digits, `-`, `_` and `.`.
        public init?(_ text: String) {
            guard let first = text.utf8.first, first.isASCIILetter, text.utf8.allSatisfy(\.isPlainNameCharacter) else {
                return nil
            }
            self.text = text
        }

        /// A name written in source code. An invalid name is a programming error and stops the process.
        public init(stringLiteral text: String) {
            precondition(Self(text) != nil, "'\(text)' is not a structured field token")
            self.text = text
        }
    }
}

extension CacheStatus: CustomStringConvertible {
    /// The member as RFC 9651 §4.1 serializes it: `darkroom;fwd=miss;stored;detail=original-disk`.
    public var description: String {
        var text = cache.text
        switch outcome {
        case .hit: text += ";hit"
        case .forwarded(let reason): text += ";fwd=\(reason.rawValue)"
        }
        if let forwardStatus { text += ";fwd-status=\(forwardStatus)" }
        if let ttl { text += ";ttl=\(ttl)" }
        if isStored { text += ";stored" }
        if isCollapsed { text += ";collapsed" }
        if let detail { text += ";detail=\(detail.text)" }
        return text
    }
}
