import HTTPTypes
import NIOHTTP1

/// The header fields of a request to an origin.
enum RequestHeaders {
    /// Fields that frame the message, belong to the connection, or that the client answers for.
    private static let ours: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "keep-alive",
        "proxy-authorization", "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade", "via",
    ]

    /// Our own fields, then those of `extra` that a caller may set; of `Accept` and `User-Agent` the caller's win.
    static func make(userAgent: String, viaPseudonym: String, extra: HTTPFields) -> HTTPHeaders {
        let allowed = extra.filter { !ours.contains($0.name.canonicalName) }
        let defaults = [
            ("accept", "image/*,*/*;q=0.5"), ("user-agent", userAgent), ("accept-encoding", "identity"),
            ("via", "1.1 \(viaPseudonym)"),
        ]
        var headers = HTTPHeaders(
            defaults.filter { name, _ in !allowed.contains { $0.name.canonicalName == name } })
        for field in allowed { headers.add(name: field.name.rawName, value: field.value) }
        return headers
    }
}

extension HTTPFields {
    /// The fields of a received head; names or values that RFC 9110 does not allow are left out.
    init(_ headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers {
            guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }
}
