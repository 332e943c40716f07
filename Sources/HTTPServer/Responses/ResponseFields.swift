package import Foundation
package import HTTPTypes
package import Hummingbird
package import NIOCore

extension HTTPField.Name {
    /// `Cache-Status` (RFC 9211).
    package static let cacheStatus = known("Cache-Status")
    /// `Forwarded` (RFC 7239).
    static let forwarded = known("Forwarded")
    /// `Referrer-Policy` (W3C Referrer Policy).
    package static let referrerPolicy = known("Referrer-Policy")
    /// `Sec-Fetch-Dest` (Fetch Metadata).
    package static let secFetchDest = known("Sec-Fetch-Dest")
    /// `Server-Timing` (W3C Server Timing).
    package static let serverTiming = known("Server-Timing")
    /// `Timing-Allow-Origin` (W3C Resource Timing).
    static let timingAllowOrigin = known("Timing-Allow-Origin")
    /// `traceparent` and `tracestate` (W3C Trace Context).
    static let traceParent = known("traceparent")
    static let traceState = known("tracestate")
    /// `X-Forwarded-For`, the de facto predecessor of `Forwarded`.
    static let xForwardedFor = known("X-Forwarded-For")
    /// `X-Request-Id`: the request's id in logs and problem documents.
    package static let requestID = known("X-Request-Id")

    /// A field name that HTTPTypes does not define. The text must be a valid token.
    package static func known(_ text: String) -> HTTPField.Name {
        guard let name = HTTPField.Name(text) else { preconditionFailure("'\(text)' is not a valid field name") }
        return name
    }
}

/// Which other sites may use a reply, and the site that asks.
package struct ReplySharing: Sendable {
    let origins: CORSPolicy
    /// Whether pages of other sites may embed what is at the path.
    let isEmbeddable: Bool
    /// The request's `Origin`.
    package let origin: String?

    package init(_ origins: CORSPolicy, isEmbeddable: Bool = false, origin: String? = nil) {
        self.origins = origins
        self.isEmbeddable = isEmbeddable
        self.origin = origin
    }
}

extension HTTPFields {
    /// Adds the fields that every response has, whichever way it comes: who may read and embed it, the fields that make
    /// it inert in browsers unless it sets them itself, and the server.
    mutating func finish(_ status: HTTPResponse.Status, _ sharing: ReplySharing) {
        sharing.origins.apply(to: &self, origin: sharing.origin)
        // A success decides for itself. Otherwise, browsers would show the failure of an `<img>` of another site as
        // `ERR_BLOCKED_BY_RESPONSE.NotSameOrigin`, without its status and body, and not follow its redirect (Fetch
        // Standard §3.7).
        if status.code >= 300, sharing.isEmbeddable, self[.crossOriginResourcePolicy] == nil {
            self[.crossOriginResourcePolicy] = "cross-origin"
        }
        for field in Self.browserProtection where !contains(field.name) { append(field) }
        self[.server] = ListenerConfiguration.serverName
    }

    /// Adds a field that is not among them yet, unless its value is nil.
    package mutating func add(_ name: HTTPField.Name, _ value: String?) {
        if let value { append(HTTPField(name: name, value: value)) }
    }

    /// No content sniffing, no scripts or subresources, no embedding by other sites, and no leak of URLs, which may
    /// contain signatures, through `Referer`.
    private static let browserProtection: HTTPFields = [
        .xContentTypeOptions: "nosniff", .contentSecurityPolicy: "default-src 'none'; sandbox",
        .crossOriginResourcePolicy: "same-origin", .referrerPolicy: "no-referrer",
    ]
}

extension ByteBuffer {
    /// The head of a response as it is sent: the status line and the given fields, finished, without an empty line at
    /// the end, so that further fields can follow.
    package static func head(
        _ status: HTTPResponse.Status, _ fields: HTTPFields, _ sharing: ReplySharing
    ) -> ByteBuffer {
        var fields = fields
        fields.finish(status, sharing)
        var head = ByteBuffer()
        // Few heads are longer. It would grow several times.
        head.reserveCapacity(1024)
        head.writeString("HTTP/1.1 \(status.code) \(status.reasonPhrase)\r\n")
        head.write(fields)
        return head
    }

    /// Adds header fields, one line each.
    package mutating func write(_ fields: HTTPFields) {
        for field in fields {
            writeString(field.name.rawName)
            writeStaticString(": ")
            writeString(field.value)
            writeStaticString("\r\n")
        }
    }
}

extension Response {
    /// A text of a media type. By default, it is valid only now, so it is not cacheable.
    package init(_ text: ByteBuffer, type: String, cacheControl: String = "no-store") {
        self.init(
            status: .ok,
            headers: [.contentType: type, .cacheControl: cacheControl, .xContentTypeOptions: "nosniff"],
            body: ResponseBody(byteBuffer: text))
    }

    /// A JSON document that is valid only now. See `ByteBuffer.json`.
    package static func json(_ document: some Encodable) -> Response {
        Response(.json(document), type: "application/json")
    }
}

extension ByteBuffer {
    /// A JSON document on one line with sorted keys, by default in snake case. Encoding it must not fail: numbers must
    /// be finite.
    package static func json(
        _ document: some Encodable, keys: JSONEncoder.KeyEncodingStrategy = .convertToSnakeCase
    ) -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.keyEncodingStrategy = keys
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: (try? encoder.encode(document)) ?? Data())
    }
}

extension String {
    /// The text, shortened to a number of UTF-8 bytes and an ellipsis if it is longer. For untrusted text in logs and
    /// errors.
    func truncated(to maxBytes: Int) -> String {
        guard utf8.count > maxBytes else { return self }
        return String(decoding: utf8.prefix(maxBytes), as: UTF8.self) + "…"
    }
}
