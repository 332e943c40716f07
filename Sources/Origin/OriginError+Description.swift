import DarkroomNetwork

extension OriginError: CustomStringConvertible {
    /// A sentence for clients.
    public var description: String {
        switch self {
        case .invalidURL(let error): error.description
        case .notAllowed(let denial): denial.description
        case .notFound(let refusal): "The origin has no such resource (status \(refusal.status))."
        case .localNotFound: "There is no such local file."
        case .tooLarge(let limitBytes): "The source is larger than \(limitBytes) bytes."
        case .tooManyRedirects(let limit): "The origin redirected more than \(limit) times."
        case .badRedirect(let fault): fault.description
        case .unexpectedStatus(let refusal): "The origin answered with status \(refusal.status)."
        case .unacceptableEncoding: "The origin compressed its answer although that was not accepted."
        case .emptyBody: "The origin answered without a body."
        case .unreachable(let stage): stage.description
        case .hostUnavailable: "The origin could not be reached several times in a row and is given a rest."
        case .timedOut(let phase): phase.description
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
        case .refused: "The origin refused the connection."
        case .connect: "The origin could not be connected to."
        case .tls: "No TLS connection to the origin could be made."
        case .certificate: "The origin's certificate is not trusted."
        case .reset: "The origin closed the connection before it answered."
        case .incomplete: "The origin closed the connection before its answer was complete."
        case .malformed: "The origin's answer is not valid HTTP."
        }
    }
}

extension OriginError.Phase: CustomStringConvertible {
    /// A sentence for clients.
    public var description: String {
        switch self {
        case .waiting: "Too many downloads were waiting before this one."
        case .resolving: "Resolving the origin's name took too long."
        case .connecting: "Connecting to the origin took too long."
        case .response: "The origin took too long to answer."
        case .body: "The origin took too long to send its answer."
        }
    }
}
