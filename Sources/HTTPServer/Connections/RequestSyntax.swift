import NIOHTTP1

extension Problem {
    /// The problem with bytes that the HTTP parser rejects, after so many bytes of the request line.
    init(_ error: HTTPParserError, requestLineBytes: Int) {
        switch error {
        case .headerOverflow where requestLineBytes > ConnectionLimits.maxFieldBytes:
            self = .targetTooLong(maxBytes: ConnectionLimits.maxFieldBytes)
        case .headerOverflow:
            self.init(
                .headTooLarge,
                "A request may have at most \(ConnectionLimits.maxFields) header fields, "
                    + "each of at most \(ConnectionLimits.maxFieldBytes) bytes, "
                    + "and \(ConnectionLimits.maxHeadBytes) bytes in total.")
        case .invalidURL:
            self.init(
                .malformedRequest,
                "The path or query has a byte that a URL cannot have: percent-encode spaces, control characters and "
                    + "text outside ASCII.")
        default:
            self.init(.malformedRequest, "The bytes received are malformed or ambiguous as a request (RFC 9112).")
        }
    }

    /// The problem with a head that the parser accepts and RFC 9112 forbids: not exactly one `Host` field (§3.2), or a
    /// transfer coding that leaves the end of the body ambiguous (§6.1, §6.3). Nil when the head is valid.
    init?(malformed head: HTTPRequestHead) {
        let hosts = head.headers["Host"].count
        guard hosts == 1 || hosts == 0 && head.version == .http1_0 else {
            self.init(.malformedRequest, "A request must have exactly one 'Host' field, got \(hosts).")
            return
        }
        let codings = head.headers["Transfer-Encoding"].map { $0.lowercased() }
        guard !codings.isEmpty, codings != ["chunked"] || head.version == .http1_0 else { return nil }
        self.init(.malformedRequest, "'Transfer-Encoding' must be 'chunked', in a request of version HTTP/1.1.")
    }

    /// The path and query exceed the limit.
    static func targetTooLong(maxBytes: Int) -> Problem {
        Problem(.targetTooLong, "Path and query together must be at most \(maxBytes) bytes long.")
    }
}
