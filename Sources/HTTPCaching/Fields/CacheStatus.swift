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

/// How an intermediary handled a response: one member of a `Proxy-Status` field (RFC 9209).
public struct ProxyStatus: Hashable, Sendable {
    /// A proxy error type (RFC 9209 §2.3).
    public enum Failure: String, CaseIterable, Hashable, Sendable {
        case dnsTimeout = "dns_timeout"
        case dnsError = "dns_error"
        case destinationUnavailable = "destination_unavailable"
        case destinationIPUnroutable = "destination_ip_unroutable"
        case connectionLimitReached = "connection_limit_reached"
        case connectionRefused = "connection_refused"
        case connectionTerminated = "connection_terminated"
        case connectionTimeout = "connection_timeout"
        case tlsProtocolError = "tls_protocol_error"
        case tlsCertificateError = "tls_certificate_error"
        case httpResponseIncomplete = "http_response_incomplete"
        case httpResponseTimeout = "http_response_timeout"
        case httpProtocolError = "http_protocol_error"
        case proxyConfigurationError = "proxy_configuration_error"
        case proxyLoopDetected = "proxy_loop_detected"
    }

    /// The intermediary's name, a structured field token such as `darkroom`.
    public var proxy: CacheStatus.Name
    /// The error, or nil if none of the registered types applies.
    public var failure: Failure?
    /// The status of the origin's response.
    public var receivedStatus: Int?

    /// A member with the given parameters.
    public init(proxy: CacheStatus.Name, _ failure: Failure?, receivedStatus: Int? = nil) {
        self.proxy = proxy
        self.failure = failure
        self.receivedStatus = receivedStatus
    }
}

extension ProxyStatus: CustomStringConvertible {
    /// The member as RFC 9651 §4.1 serializes it: `darkroom;error=connection_timeout`.
    public var description: String {
        var text = proxy.text
        if let failure { text += ";error=\(failure.rawValue)" }
        if let receivedStatus { text += ";received-status=\(receivedStatus)" }
        return text
    }
}
