/// Why there is no original. Descriptions are fit for clients: they never name a resolved address, a path on disk or
/// what an internal server said.
public enum OriginError: Error, Hashable, Sendable {
    /// The URL is not one that this fetcher serves.
    case invalidURL(SourceURLError)
    /// The rules of this server forbid the source, whatever is there.
    case notAllowed(Denial)
    /// The origin says there is nothing: 404 or 410.
    case notFound(status: Int)
    /// No file has that name below the local root.
    case localNotFound
    /// The body is, or says it is, larger than the limit.
    case tooLarge(limitBytes: Int)
    /// The origin kept on redirecting after `limit` hops.
    case tooManyRedirects(limit: Int)
    /// A redirect that cannot be followed.
    case badRedirect(RedirectFault)
    /// A status that is neither a complete success, a redirect, 404 nor 410.
    case refusedStatus(Int)
    /// The body has a content coding although none was accepted.
    case unacceptableEncoding
    /// A success without a byte.
    case emptyBody
    /// No complete answer came; a later attempt may do better.
    case unreachable(Stage)
    /// The deadline for the whole download passed.
    case timedOut
    /// The request came back to us: the origin says so with 508 (RFC 5842 §7.2).
    case loop
    /// The task was cancelled, or the fetcher is shut down.
    case cancelled

    /// The rule that forbids a source.
    public enum Denial: Hashable, Sendable {
        /// The host is not on the allow-list.
        case host
        /// The port is not on the allow-list.
        case port
        /// The host is, or resolves to, an address that is not public and not allowed.
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
        /// The name has no address.
        case dns
        /// No connection came about.
        case connect
        /// No trusted TLS session came about.
        case tls
        /// The connection ended before the response did.
        case reset
        /// The answer is not HTTP, or its head is too large.
        case malformed
    }
}

extension OriginError: CustomStringConvertible {
    /// A sentence for clients.
    public var description: String {
        switch self {
        case .invalidURL(let error): error.description
        case .notAllowed(let denial): denial.description
        case .notFound(let status): "The origin has no such resource (status \(status))."
        case .localNotFound: "There is no such local file."
        case .tooLarge(let limitBytes): "The source is larger than \(limitBytes) bytes."
        case .tooManyRedirects(let limit): "The origin redirected more than \(limit) times."
        case .badRedirect(let fault): fault.description
        case .refusedStatus(let status): "The origin answered with status \(status)."
        case .unacceptableEncoding: "The origin compressed its answer although that was not accepted."
        case .emptyBody: "The origin answered without a body."
        case .unreachable(let stage): stage.description
        case .timedOut: "The origin took too long."
        case .loop: "The origin leads back to this server."
        case .cancelled: "The download was cancelled."
        }
    }
}

extension OriginError.Denial: CustomStringConvertible {
    /// A sentence for clients.
    public var description: String {
        switch self {
        case .host: "The source's host is not allowed."
        case .port: "The source's port is not allowed."
        case .address: "The source's address is not allowed."
        case .path: "The local path is not allowed."
        case .local: "Local sources are not enabled."
        }
    }
}

extension OriginError.RedirectFault: CustomStringConvertible {
    /// A sentence for clients.
    public var description: String {
        switch self {
        case .missingLocation: "The origin redirected without saying where to."
        case .invalidLocation: "The origin redirected to something that is no http or https URL."
        case .downgrade: "The origin redirected from https to http."
        }
    }
}

extension OriginError.Stage: CustomStringConvertible {
    /// A sentence for clients.
    public var description: String {
        switch self {
        case .dns: "The origin's name could not be resolved."
        case .connect: "The origin could not be connected to."
        case .tls: "No trusted TLS connection to the origin could be made."
        case .reset: "The origin closed the connection before its answer was complete."
        case .malformed: "The origin's answer is not valid HTTP."
        }
    }
}
