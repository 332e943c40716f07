public import DarkroomNetwork

/// Why there is no original. Descriptions are fit for clients: they never name a resolved address, a path on disk or
/// what an internal server said.
///
/// What is known about the way to the origin is told apart as finely as `Proxy-Status` does (RFC 9209 §2.3); the cases
/// name its error types.
public enum OriginError: Error, Hashable, Sendable {
    /// The URL is not one that this fetcher serves.
    case invalidURL(SourceURLError)
    /// The rules of this server forbid the source, whatever is there.
    case notAllowed(Denial)
    /// The origin says there is nothing: 404 or 410.
    case notFound(UnusableResponse)
    /// No file has that name below the local root.
    case localNotFound
    /// The body is, or says it is, larger than the limit (`http_response_body_size`).
    case tooLarge(limitBytes: Int)
    /// The origin kept on redirecting after `limit` hops.
    case tooManyRedirects(limit: Int)
    /// A redirect that cannot be followed.
    case badRedirect(RedirectFault)
    /// A status that is neither a complete success, a redirect, 404 nor 410; 304 where no validator was sent.
    case unexpectedStatus(UnusableResponse)
    /// The body has a content coding although none was accepted.
    case unacceptableEncoding
    /// A success without a byte.
    case emptyBody
    /// No complete answer came; a later attempt may do better.
    case unreachable(Stage)
    /// Too many connections to the host failed in a row, so it was not asked (`destination_unavailable`). Not before
    /// `retryAfter` is it asked again.
    case hostUnavailable(retryAfter: Duration)
    /// A time limit passed, that for the whole download or one of its parts, during the phase named.
    case timedOut(Phase)
    /// The request came back to us: the origin says so with 508 (RFC 5842 §7.2; `proxy_loop_detected`).
    case loop
    /// The task was cancelled, or the fetcher is shut down.
    case cancelled

    /// The rule that forbids a source.
    public enum Denial: Hashable, Sendable {
        /// The host is not on the allow-list.
        case host
        /// The port is not on the allow-list.
        case port
        /// The host is, or resolves to, an address that is not public and not allowed (`destination_ip_prohibited`).
        case address
        /// A local path that could leave the root, or that leads to something other than a plain file.
        case path
        /// No local root is configured.
        case local
    }

    /// What is wrong with a redirect.
    public enum RedirectFault: Hashable, Sendable {
        case missingLocation
        case invalidLocation
        /// From https to http.
        case downgrade
    }

    /// Where an exchange with an origin broke.
    public enum Stage: Hashable, Sendable {
        /// The name has no address (`dns_error`).
        case dns
        /// The host wants no connection at that port (`connection_refused`).
        case refused
        /// No connection came about for another reason, such as a missing route (`destination_ip_unroutable`).
        case connect
        /// No TLS session came about (`tls_protocol_error`).
        case tls
        /// The certificate is not valid, not trusted or another host's (`tls_certificate_error`).
        case certificate
        /// The connection ended before a response head (`connection_terminated`).
        case reset
        /// The connection ended within the body (`http_response_incomplete`).
        case incomplete
        /// The answer is not HTTP, or its head is too large (`http_protocol_error`).
        case malformed
    }

    /// What a download was at when its time was up.
    public enum Phase: Hashable, Sendable {
        /// Waiting for a slot; the origin was not asked yet.
        case waiting
        /// Looking the host up (`dns_timeout`).
        case resolving
        /// Connecting, TLS included (`connection_timeout`).
        case connecting
        /// Waiting for the response head (`http_response_timeout`).
        case response
        /// Receiving the body (`http_response_incomplete`).
        case body
    }
}
