import Foundation
package import HTTPTypes
import NIOCore

/// The failure of a request, reported to the client as a problem document (RFC 9457). It contains nothing private.
package struct Problem: Error, Hashable {
    package var kind: ProblemKind
    /// The cause in this case, and the remedy.
    package var detail: String
    /// The query parameter, or member of the body, that caused the problem.
    package var parameter: String?
    /// When to retry (RFC 9110 §10.2.3).
    package var retryAfterSeconds: Int?
    /// Further header fields of the response, such as `Allow`.
    package var fields: HTTPFields = [:]
    /// For the access log.
    package var logged = AccessLogDetails.none

    package init(_ kind: ProblemKind, _ detail: String, parameter: String? = nil, retryAfterSeconds: Int? = nil) {
        self.kind = kind
        self.detail = detail
        self.parameter = parameter
        self.retryAfterSeconds = retryAfterSeconds
    }

    /// An unexpected error. The log has the details under the request id.
    package static let internalError = Problem(
        .internalError, "The error was logged under the request id in 'instance'.")

    /// The server is draining before it shuts down.
    package static let shuttingDown = Problem(
        .unavailable, "The server is shutting down and accepts no new requests.", retryAfterSeconds: 1)

    /// The grace period ended before the response was ready.
    package static let shutDown = Problem(
        .unavailable, "The server shut down before the response was ready.", retryAfterSeconds: 1)

    /// No route has the request's path.
    package static let noSuchRoute = Problem(
        .noSuchRoute, "No endpoint has this path; /openapi.yaml describes all endpoints.")

    /// The path exists, but not for this method.
    static func methodNotAllowed(_ method: HTTPRequest.Method, allow: [HTTPRequest.Method]) -> Problem {
        let allowed = allow.map(\.rawValue).joined(separator: ", ")
        var problem = Problem(
            .methodNotAllowed,
            "Method \(method.rawValue.truncated(to: 100)) is not allowed for this path; use \(allowed).")
        problem.fields[.allow] = allowed
        return problem
    }
}

extension Problem {
    /// The members of the document (RFC 9457 §3).
    package struct Document: Codable, Hashable {
        package var type: String
        package var title: String
        package var status: Int
        package var detail: String
        package var parameter: String?
        package var instance: String
    }

    /// - Parameter base: precedes the type, as in `https://images.example.com`; empty = the type is relative.
    package func document(requestID: String, base: String = "") -> Document {
        Document(
            type: base + kind.type, title: kind.title, status: kind.status.code, detail: detail, parameter: parameter,
            instance: "urn:request:\(requestID)")
    }

    /// The fields and the body of the response to the request with that id, as a document, or as a page for a person.
    /// It is not cacheable unless its fields say so, because most problems are temporary.
    func content(
        requestID: String, base: String, asPage: Bool, links: String = ""
    ) -> (fields: HTTPFields, body: ByteBuffer) {
        guard asPage else { return (headerFields, json(requestID: requestID, base: base)) }
        let page = page(requestID: requestID, links: links)
        var fields = headerFields
        for field in page.fields { fields[field.name] = field.value }
        return (fields, ByteBuffer(string: page.html))
    }

    func json(requestID: String, base: String = "") -> ByteBuffer { document(requestID: requestID, base: base).json }

    /// The response's header fields, without the length of the body.
    package var headerFields: HTTPFields {
        var all: HTTPFields = [
            .contentType: "application/problem+json", .cacheControl: "no-store", .xContentTypeOptions: "nosniff",
        ]
        if let retryAfterSeconds { all[.retryAfter] = String(retryAfterSeconds) }
        if fields[.cacheControl] != nil { all[.cacheControl] = nil }
        all.append(contentsOf: fields)
        return all
    }
}

extension Problem.Document {
    /// The document as JSON on one line with sorted keys. Written without an encoder, whose overhead counts when a
    /// server under overload refuses most of its requests.
    var json: ByteBuffer {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(160 + detail.utf8.count + title.utf8.count + instance.utf8.count)
        buffer.writeMember("{\"detail\":", detail)
        buffer.writeMember(",\"instance\":", instance)
        if let parameter { buffer.writeMember(",\"parameter\":", parameter) }
        buffer.writeString(",\"status\":\(status)")
        buffer.writeMember(",\"title\":", title)
        buffer.writeMember(",\"type\":", type)
        buffer.writeString("}")
        return buffer
    }
}

extension ByteBuffer {
    fileprivate mutating func writeMember(_ name: StaticString, _ text: String) {
        writeStaticString(name)
        writeStaticString("\"")
        if text.utf8.contains(where: Self.isEscaped) {
            for byte in text.utf8 { writeEscaped(byte) }
        } else {
            writeString(text)
        }
        writeStaticString("\"")
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    /// Writes a byte of a JSON string (RFC 8259 §7).
    private mutating func writeEscaped(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): writeStaticString("\\\"")
        case UInt8(ascii: "\\"): writeStaticString("\\\\")
        case 0x08: writeStaticString("\\b")
        case 0x09: writeStaticString("\\t")
        case 0x0a: writeStaticString("\\n")
        case 0x0c: writeStaticString("\\f")
        case 0x0d: writeStaticString("\\r")
        case ..<0x20: writeString("\\u00" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16))
        default: writeInteger(byte)
        }
    }
}
