import DarkroomHTTPCaching
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

extension Problem {
    /// The document as it is sent (RFC 9457 §3).
    struct Document: Codable, Hashable {
        var type: String
        var title: String
        var status: Int
        var detail: String
        var parameter: String?
        var instance: String
    }

    func document(requestID: String) -> Document {
        Document(
            type: kind.type, title: kind.title, status: kind.status.code, detail: detail, parameter: parameter,
            instance: "urn:request:\(requestID)")
    }

    /// The answer to the request of that id. Nobody may store it: most problems pass.
    func response(requestID: String) -> Response {
        Response(status: kind.status, headers: fields, body: ResponseBody(byteBuffer: json(requestID: requestID)))
    }

    /// The document's bytes.
    func json(requestID: String) -> ByteBuffer {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        // Strings and a number: there is nothing that could fail to encode.
        return ByteBuffer(bytes: (try? encoder.encode(document(requestID: requestID))) ?? Data())
    }

    /// What the answer's header says besides the body's length.
    var fields: HTTPFields {
        var fields: HTTPFields = [
            .contentType: "application/problem+json", .cacheControl: CacheControl.noStore.description,
            .xContentTypeOptions: "nosniff",
        ]
        if let retryAfterSeconds { fields[.retryAfter] = String(retryAfterSeconds) }
        if !allow.isEmpty { fields[.allow] = allow.map(\.rawValue).joined(separator: ", ") }
        // RFC 9110 §15.5.2 wants a challenge with it, RFC 6750 §3 something in that.
        if kind.status == .unauthorized { fields[.wwwAuthenticate] = #"Bearer realm="darkroom""# }
        fields[.cacheStatus] = cacheStatus?.description
        fields[.proxyStatus] = proxyStatus?.description
        if variesByAccept { fields[.vary] = "Accept" }
        return fields
    }
}
