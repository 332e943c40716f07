import DarkroomHTTPCaching
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
    /// A document about this moment, which nobody may store. It must hold nothing that could fail to encode: numbers are finite.
    static func json(_ document: some Encodable) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: "application/json", .cacheControl: CacheControl.noStore.description,
                .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: .json(document)))
    }
}

extension ByteBuffer {
    /// A document on one line, its members in alphabetical order. It must hold nothing that could fail to encode.
    static func json(_ document: some Encodable) -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return ByteBuffer(bytes: (try? encoder.encode(document)) ?? Data())
    }
}
