import DarkroomNetwork
package import HTTPTypes
import NIOHTTP1

/// What a store says about an object besides its bytes.
package struct ObjectAttributes: Sendable {
    /// The fields of the answer, as untrusted as the body. Includes `ETag`, `Last-Modified`, `Content-Type` and, if
    /// they were stored with the object, `Cache-Control`, `Content-Encoding` and `Expires`.
    package let fields: HTTPFields

    /// The ETag with its quotes.
    package var etag: String? { fields[.eTag] }

    /// The number of bytes that the answer announces: of the object, or of the part that was asked for.
    package var contentLength: Int? { fields[.contentLength].flatMap(Int.init(digits:)) }

    /// The part of the object that the answer contains (RFC 9110 §14.4), or nil if that is the whole object. Some
    /// stores ignore ranges.
    package var contentRange: (bytes: ClosedRange<Int>, total: Int?)? {
        guard let text = fields[.contentRange], text.hasPrefix("bytes ") else { return nil }
        let parts = text.dropFirst(6).split(separator: "/", omittingEmptySubsequences: false)
        let ends = (parts.first ?? "").split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, ends.count == 2, let first = Int(digits: ends[0]), let last = Int(digits: ends[1]),
            first <= last
        else { return nil }
        return (first...last, Int(digits: parts[1]))
    }

    /// The user-defined metadata of this name, as in ``ObjectWrite/metadata``.
    package func metadata(_ name: String) -> String? {
        HTTPField.Name(ObjectWrite.metadataPrefix + name).flatMap { fields[$0] }
    }
}

extension HTTPFields {
    /// The fields of a received head, without names and values that RFC 9110 does not allow.
    init(received headers: HTTPHeaders) {
        self.init()
        for (name, value) in headers {
            guard let name = HTTPField.Name(name), HTTPField.isValidValue(value) else { continue }
            append(HTTPField(name: name, value: value))
        }
    }
}
