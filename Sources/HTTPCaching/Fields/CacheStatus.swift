import DarkroomNetwork

/// How a cache dealt with a request: one member of a `Cache-Status` field (RFC 9211).
public struct CacheStatus: Hashable, Sendable {
    /// Whether the cache could answer by itself.
    public enum Outcome: Hashable, Sendable {
        case hit
        /// It could not, and asked further on (RFC 9211 §2.2).
        case forwarded(Reason)
    }

    /// Why a request went further (RFC 9211 §2.2).
    public enum Reason: String, Hashable, Sendable {
        case bypass, method, miss, request, stale, partial
        case varyMiss = "vary-miss"
    }

    /// The cache's name, a structured field token such as `darkroom`.
    public var cache: Name
    /// Whether the cache could answer by itself.
    public var outcome: Outcome
    /// The status that the forwarded request was answered with, such as 304.
    public var forwardStatus: Int?
    /// For how many seconds the response is still fresh; negative once it is stale.
    public var ttl: Int?
    /// Whether the answer was kept for later requests.
    public var isStored: Bool
    /// Whether the request shared the forwarded request of another one.
    public var isCollapsed: Bool
    /// More about it, in words of the cache's own.
    public var detail: Name?

    /// An outcome, and no more than what is said.
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
}

extension CacheStatus {
    /// A structured field token (RFC 9651 §3.3.4) out of the part of its alphabet that needs no thought.
    public struct Name: Hashable, Sendable, ExpressibleByStringLiteral {
        /// The token.
        public let text: String

        /// Nil unless the text is a letter, followed by letters, digits, `-`, `_` and `.`.
        public init?(_ text: String) {
            guard let first = text.utf8.first, first.isASCIILetter, text.utf8.allSatisfy(\.isPlainNameCharacter) else {
                return nil
            }
            self.text = text
        }

        /// For names in source code; one that is no token is a programming error.
        public init(stringLiteral text: String) {
            precondition(Self(text) != nil, "'\(text)' is no structured field token")
            self.text = text
        }
    }
}

extension CacheStatus: CustomStringConvertible {
    /// The member as RFC 9651 §4.1 serialises it: `darkroom;fwd=miss;stored;detail=original-disk`.
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
