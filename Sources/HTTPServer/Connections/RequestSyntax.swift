import HTTPTypes
import NIOCore
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

    /// The response to bytes that never became a request. The connection closes after it.
    ///
    /// - Parameter isEmbeddable: whether they may have been a request by a page of another site.
    func responseParts(requestID: String, base: String, isEmbeddable: Bool) -> [HTTPServerResponsePart] {
        let json = json(requestID: requestID, base: base)
        var fields = headerFields
        fields.finish(kind.status, ReplySharing(.none, isEmbeddable: isEmbeddable))
        var headers = HTTPHeaders(fields.map { ($0.name.rawName, $0.value) })
        headers.add(name: HTTPField.Name.requestID.rawName, value: requestID)
        headers.add(name: "Content-Length", value: "\(json.readableBytes)")
        headers.add(name: "Connection", value: "close")
        let status = HTTPResponseStatus(statusCode: kind.status.code, reasonPhrase: kind.status.reasonPhrase)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        return [.head(head), .body(.byteBuffer(json)), .end(nil)]
    }

    /// The path and query exceed the limit.
    static func targetTooLong(maxBytes: Int) -> Problem {
        Problem(.targetTooLong, "Path and query together must be at most \(maxBytes) bytes long.")
    }
}
