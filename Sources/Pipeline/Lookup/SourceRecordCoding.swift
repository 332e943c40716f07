import DarkroomHTTPCaching
import DarkroomStore
import Foundation
import HTTPTypes
import NIOCore

/// The encoding of a record in a store: a revision, the content's hash, three dates, the status, and texts prefixed
/// with their lengths.
extension SourceRecord {
    private static let revision: UInt8 = 1
    /// The most fields that decoding accepts; no encoded record has more.
    private static let maxFields = 256

    var bytes: ByteBuffer {
        var bytes = ByteBuffer()
        bytes.writeInteger(Self.revision)
        bytes.writeBytes(content.bytes)
        bytes.writeDate(response.requestedAt)
        bytes.writeDate(response.receivedAt)
        bytes.writeDate(response.staleSince)
        bytes.writeInteger(UInt16(clamping: response.status))
        for text in [url, host, answeredURL] { bytes.writeText(text) }
        bytes.writeFields(response.fields)
        bytes.writeFields(response.requestFields)
        return bytes
    }

    /// Decodes a record; nil if the bytes are of another revision or malformed.
    ///
    /// - Parameter leastOrder: the order of a record from the shared tier.
    convenience init?(_ bytes: ByteBuffer, leastOrder: Int64 = 0, policy: FreshnessPolicy) {
        var bytes = bytes
        guard bytes.readInteger(as: UInt8.self) == Self.revision,
            let content = bytes.readBytes(length: StoreKey.byteCount).flatMap(StoreKey.init(digest:)),
            let requestedAt = bytes.readDate() ?? nil, let receivedAt = bytes.readDate() ?? nil,
            let staleSince = bytes.readDate(), let status = bytes.readInteger(as: UInt16.self),
            let url = bytes.readText(), let host = bytes.readText(), let answeredURL = bytes.readText(),
            let fields = bytes.readFields(atMost: Self.maxFields),
            let requestFields = bytes.readFields(atMost: Self.maxFields)
        else { return nil }
        var response = StoredResponse(
            status: Int(status), fields: fields, sent: [:], requestedAt: requestedAt, receivedAt: receivedAt)
        response.requestFields = requestFields
        response.staleSince = staleSince
        self.init(
            url: url, host: host, answeredURL: answeredURL, response: response, content: content, policy: policy,
            leastOrder: leastOrder)
    }
}

/// Dates are milliseconds since 1970; `Int64.min` encodes nil.
extension ByteBuffer {
    fileprivate mutating func writeDate(_ date: Date?) {
        writeInteger(date.map { Int64(($0.timeIntervalSince1970 * 1000).rounded()) } ?? Int64.min)
    }

    /// Reads a date. The outer nil means that there are not enough bytes.
    fileprivate mutating func readDate() -> Date?? {
        guard let milliseconds = readInteger(as: Int64.self) else { return nil }
        guard milliseconds != .min else { return .some(nil) }
        return Date(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    fileprivate mutating func writeText(_ text: String) {
        writeInteger(UInt32(text.utf8.count))
        writeString(text)
    }

    fileprivate mutating func readText() -> String? {
        guard let count = readInteger(as: UInt32.self) else { return nil }
        return readString(length: Int(count))
    }

    fileprivate mutating func writeFields(_ fields: HTTPFields) {
        writeInteger(UInt16(clamping: fields.count))
        for field in fields {
            writeText(field.name.rawName)
            writeText(field.value)
        }
    }

    fileprivate mutating func readFields(atMost limit: Int) -> HTTPFields? {
        guard let count = readInteger(as: UInt16.self), count <= limit else { return nil }
        var fields = HTTPFields()
        for _ in 0..<count {
            guard let name = readText().flatMap({ HTTPField.Name($0) }), let value = readText() else { return nil }
            fields.append(HTTPField(name: name, value: value))
        }
        return fields
    }
}
