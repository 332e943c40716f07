import HTTPTypes
import NIOCore
import NIOHTTP1

extension Problem {
    /// What is wrong with bytes that the parser does not take for a request.
    ///
    /// - Parameter lineBytes: of the line with the target, as far as it has come.
    init(_ error: HTTPParserError, lineBytes: Int) {
        switch error {
        case .headerOverflow where lineBytes > ConnectionLimits.maxFieldBytes:
            self = .targetTooLong(maxBytes: ConnectionLimits.maxFieldBytes)
        case .headerOverflow:
            self.init(
                .headTooLarge,
                "At most \(ConnectionLimits.maxFields) header fields are read, of \(ConnectionLimits.maxFieldBytes) bytes each and "
                    + "\(ConnectionLimits.maxHeadBytes) bytes together.")
        default:
            self.init(.malformedRequest, "The bytes are no request of HTTP/1.1, or one that could be read in two ways.")
        }
    }

    /// What the parser lets pass and RFC 9112 does not: more hosts than one or none (§3.2), and codings that leave it open where the body
    /// ends (§6.1, §6.3). Nil = nothing.
    init?(malformed head: HTTPRequestHead) {
        let hosts = head.headers["Host"].count
        guard hosts == 1 || hosts == 0 && head.version == .http1_0 else {
            self.init(.malformedRequest, "A request has exactly one 'Host' field.")
            return
        }
        let codings = head.headers["Transfer-Encoding"].map { $0.lowercased() }
        guard !codings.isEmpty, codings != ["chunked"] || head.version == .http1_0 else { return nil }
        self.init(.malformedRequest, "The one transfer coding that is read is 'chunked', in HTTP/1.1.")
    }

    /// The answer to what never became a request, after which the connection ends.
    func parts(requestID: String) -> [HTTPServerResponsePart] {
        let json = json(requestID: requestID)
        var headers = HTTPHeaders(fields.map { ($0.name.rawName, $0.value) })
        headers.add(name: HTTPField.Name.requestID.rawName, value: requestID)
        headers.add(name: "Content-Length", value: "\(json.readableBytes)")
        headers.add(name: "Connection", value: "close")
        let status = HTTPResponseStatus(statusCode: kind.status.code, reasonPhrase: kind.status.reasonPhrase)
        let head = HTTPResponseHead(version: .http1_1, status: status, headers: headers)
        return [.head(head), .body(.byteBuffer(json)), .end(nil)]
    }

    static func targetTooLong(maxBytes: Int) -> Problem {
        Problem(.targetTooLong, "Path and query are longer than the \(maxBytes) bytes that are accepted.")
    }
}
