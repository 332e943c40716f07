package import Foundation
import HTTPTypes
package import Hummingbird
package import NIOCore

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
