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
