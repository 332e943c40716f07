import HTTPTypes
import NIOHTTP1

/// The header fields of a request to an origin.
struct RequestHeaders {
    /// What can choose between representations: our own fields and the caller's.
    let selecting: HTTPFields
    /// All that go out, but for those that the HTTP client adds to frame the message.
    let all: HTTPHeaders

    /// Fields that frame the message, belong to the connection, make it conditional, or that the client answers for.
    private static let ours: Set<String> = [
        "accept-encoding", "connection", "content-length", "expect", "host", "http2-settings", "if-match",
        "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive", "proxy-authorization",
        "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade", "via",
    ]

    /// Our own fields, then those of the request that a caller may set; of `Accept` and `User-Agent` the caller's win.
    ///
    /// - Parameter trace: what carries the trace on, in place of fields of the same names. It never counts for `Vary`.
    init(_ request: OriginRequest, userAgent: String, viaPseudonym: String, trace: HTTPFields = [:]) {
        let allowed = request.headers.filtered {
            !Self.ours.contains($0.name.canonicalName) && !trace.contains($0.name)
        }
        let defaults: HTTPFields = [
            .accept: "image/*,*/*;q=0.5", .userAgent: userAgent, .acceptEncoding: "identity",
        ]
        selecting = HTTPFields(defaults.filter { !allowed.contains($0.name) } + allowed)
        let others = request.conditions + [HTTPField(name: .via, value: "1.1 \(viaPseudonym)")] + trace
        all = HTTPHeaders((selecting + others).map { ($0.name.rawName, $0.value) })
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
