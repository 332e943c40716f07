package import DarkroomHTTPCaching
public import DarkroomNetwork
import HTTPTypes

/// The reason for a missing original. Descriptions are fit for clients: they never contain a resolved address, a path
/// on disk or text of an internal server.
///
/// Failures to reach the origin are distinguished as in `Proxy-Status` (RFC 9209 §2.3), whose error types are noted.
public enum OriginError: Error, Hashable, Sendable {
    /// The URL is invalid, or of a scheme that the fetcher does not serve.
    case invalidURL(SourceURLError)
    /// This server does not allow the source.
    case notAllowed(Denial)
    /// The origin answered 404 or 410.
    case notFound(UnusableResponse)
    /// The file does not exist below the local root.
    case localNotFound
    /// The body, or its announced length, exceeds the limit (`http_response_body_size`).
    case tooLarge(limitBytes: Int)
    /// The origin redirected more than `limit` times.
    case tooManyRedirects(limit: Int)
    /// A redirect that cannot be followed.
    case badRedirect(RedirectFault)
    /// A status without an original: 204, 205, 206 without the complete range, any 4xx or 5xx but 404 and 410, a 3xx
    /// that is not a redirect, or 304 although no validator was sent.
    case unexpectedStatus(UnusableResponse)
    /// The body is not encoded as its content codings say, or has too many.
    case unacceptableEncoding
    /// A successful response with an empty body.
    case emptyBody
    /// No complete response arrived. A later attempt may succeed.
    case unreachable(Stage)
    /// The circuit breaker is open after too many failures in a row, so the host was not asked
    /// (`destination_unavailable`). No request is sent before `retryAfter` has passed.
    case hostUnavailable(retryAfter: Duration)
    /// A time limit passed during this phase.
    case timedOut(Phase)
    /// The request led back to this server, which the origin reports with 508 (RFC 5842 §7.2; `proxy_loop_detected`).
    case loop
    /// The task was canceled, or the fetcher is shut down.
    case cancelled

    /// The rule that a source violates.
    public enum Denial: Hashable, Sendable {
        /// The host is not on the allow-list.
        case host
        /// The port is not on the allow-list.
        case port
        /// The host is an address that is neither public nor allowed (`destination_ip_prohibited`). A name that leads
        /// to such an address is unreachable, like a name without an address.
        case address
        /// The local path may leave the root, or does not lead to a plain file.
        case path
        /// No local root is configured.
        case local
        /// The object's bucket is not among the sources, or its key is outside of the allowed prefixes.
        case object
    }

    /// What is wrong with a redirect.
    public enum RedirectFault: Hashable, Sendable {
        /// No `Location` field, or an empty one.
        case missingLocation
        /// A `Location` that is not an http or https URL.
        case invalidLocation
    }

    /// The stage at which a request to an origin failed.
    public enum Stage: Hashable, Sendable {
        /// The name has no address, or an address that is neither public nor allowed (`dns_error`).
        case dns
        /// The host refused the connection (`connection_refused`).
        case refused
        /// The connection failed for another reason, such as a missing route (`destination_ip_unroutable`).
        case connect
        /// The TLS handshake failed (`tls_protocol_error`).
        case tls
        /// The certificate is invalid, not trusted or another host's (`tls_certificate_error`).
        case certificate
        /// The connection closed before the response head (`connection_terminated`).
        case reset
        /// The connection closed within the body (`http_response_incomplete`).
        case incomplete
        /// The response is not HTTP, or its head is too large (`http_protocol_error`).
        case malformed
        /// The object store does not accept this server's configuration, such as its credentials, or it is not an
        /// object store (`proxy_configuration_error`).
        case configuration
    }

    /// The phase of a download.
    public enum Phase: Hashable, Sendable {
        /// Waiting for a slot, or refused because too many downloads wait. No request was sent.
        case waiting
        /// Looking up the host name (`dns_timeout`).
        case lookup
        /// Connecting, TLS included (`connection_timeout`).
        case connecting
        /// Waiting for the response head (`http_response_timeout`).
        case response
        /// Receiving the body (`http_response_incomplete`).
        case body
    }
}

extension OriginError: CustomStringConvertible {
    /// The error as a sentence for clients.
    public var description: String {
        switch self {
        case .invalidURL(let error): error.description
        case .notAllowed(.host): "The source's host is not allowed."
        case .notAllowed(.port): "The source's port is not allowed."
        case .notAllowed(.address): "The source's address is not allowed."
        case .notAllowed(.path): "The local path is not allowed."
        case .notAllowed(.local): "Local sources are not enabled."
        case .notAllowed(.object): "The object is not among those that this server may read."
        case .notFound(let response): "The origin has no such resource (status \(response.status))."
        case .localNotFound: "There is no such local file."
        case .tooLarge(let limitBytes): "The source is larger than \(limitBytes) bytes."
        case .tooManyRedirects(let limit): "The origin redirected more than \(limit) times."
        case .badRedirect(.missingLocation): "The origin redirected without a Location field."
        case .badRedirect(.invalidLocation): "The origin redirected to something other than an http or https URL."
        case .unexpectedStatus(let response): "The origin answered with status \(response.status)."
        case .unacceptableEncoding: "The origin's response is not compressed as its Content-Encoding says."
        case .emptyBody: "The origin sent an empty response body."
        case .unreachable(.dns): "The origin's name leads to no address that this server may use."
        case .unreachable(.refused): "The origin refused the connection."
        case .unreachable(.connect): "The connection to the origin failed."
        case .unreachable(.tls): "The TLS handshake with the origin failed."
        case .unreachable(.certificate): "The origin's certificate is not trusted."
        case .unreachable(.reset): "The origin closed the connection before it answered."
        case .unreachable(.incomplete): "The origin closed the connection before its response was complete."
        case .unreachable(.malformed): "The origin's response is not valid HTTP."
        case .unreachable(.configuration): "This server is not configured correctly for this origin."
        case .hostUnavailable: "The origin was unreachable several times in a row; requests to it are paused."
        case .timedOut(.waiting): "The download waited too long for its turn."
        case .timedOut(.lookup): "The lookup of the origin's name took too long."
        case .timedOut(.connecting): "Connecting to the origin took too long."
        case .timedOut(.response): "The origin took too long to respond."
        case .timedOut(.body): "The origin took too long to send its response."
        case .loop: "The origin leads back to this server."
        case .cancelled: "The download was canceled."
        }
    }
}

extension OriginError {
    /// How long a source that failed with this error is not requested again.
    package func retention() -> FailureRetention {
        switch self {
        case .notFound(let refusal): .gone(StoredResponse(refusal))
        // A request that only waited in a queue of this server says nothing about the source.
        case .localNotFound, .invalidURL, .notAllowed, .loop, .cancelled, .hostUnavailable, .timedOut(.waiting): .never
        case .unexpectedStatus(let refusal):
            .transient(
                // A part is cacheable only by a cache that supports ranges (RFC 9111 §3), and a 304 describes another
                // response.
                [206, 304].contains(refusal.status) ? nil : StoredResponse(refusal),
                retryAfter: refusal.retryAfter)
        case .tooLarge, .tooManyRedirects, .badRedirect, .unacceptableEncoding, .emptyBody, .unreachable, .timedOut:
            .transient(nil)
        }
    }
}

extension UnusableResponse {
    /// `Retry-After`, at most ``FailureRetention/maxRetryAfter``; nil without a valid one.
    package var retryAfter: Duration? {
        headers.retryAfter(now: receivedAt).map { min($0, FailureRetention.maxRetryAfter) }
    }
}

extension StoredResponse {
    fileprivate init(_ refusal: UnusableResponse) {
        self.init(
            status: refusal.status, fields: refusal.headers, sent: [:], requestedAt: refusal.requestedAt,
            receivedAt: refusal.receivedAt)
    }
}
