package import Foundation
import HTTPTypes
package import Hummingbird
package import NIOCore

extension Response {
    /// A JSON document that is valid only now, so it is not cacheable. See `ByteBuffer.json`.
    package static func json(_ document: some Encodable) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "application/json", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: .json(document)))
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
