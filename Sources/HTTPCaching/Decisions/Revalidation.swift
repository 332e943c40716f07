public import Foundation
public import HTTPTypes

extension StoredResponse {
    /// The fields of a conditional request that validates this response: `If-None-Match` and `If-Modified-Since`, with
    /// the bytes that the origin sent (RFC 9111 §4.3.1), also if its tag lacks the quotes. Empty without validators; a
    /// malformed validator is left out.
    public var validators: HTTPFields {
        var conditions = HTTPFields()
        if let text = fields[.eTag], EntityTag(received: text) != nil {
            append(.eTag, as: .ifNoneMatch, to: &conditions)
        }
        if let text = fields[.lastModified], HTTPDate(parsing: text, now: receivedAt) != nil {
            append(.lastModified, as: .ifModifiedSince, to: &conditions)
        }
        return conditions
    }

    /// Whether a 304 with these fields refers to this response. False if both have an entity tag and the tags differ
    /// (RFC 9111 §4.3.4): then the origin must be asked again, without conditions.
    public func isConfirmed(by fields: HTTPFields) -> Bool {
        guard let received = fields[.eTag].flatMap(EntityTag.init(received:)),
            let stored = self.fields[.eTag].flatMap(EntityTag.init(received:))
        else { return true }
        return received.weaklyEquals(stored)
    }

    /// The response after a 304 has validated it (RFC 9111 §3.2, §4.3.4).
    ///
    /// The 304's fields replace stored fields of the same name, and a soft purge ends. The old `Age` and `Date` are
    /// removed even if the 304 has none, since they describe the time of the older response.
    public func freshened(
        by fields: HTTPFields, sent: HTTPFields, requestedAt: Date, receivedAt: Date
    ) -> StoredResponse {
        let replaced = Set(fields.map(\.name)).union([.age, .date])
        let merged = HTTPFields(self.fields.filter { !replaced.contains($0.name) } + fields)
        return StoredResponse(
            status: status, fields: merged, sent: sent, requestedAt: requestedAt, receivedAt: receivedAt)
    }

    /// Copies a field under another name. A new field would need a value of valid UTF-8, which the copied value need
    /// not be.
    private func append(_ name: HTTPField.Name, as condition: HTTPField.Name, to conditions: inout HTTPFields) {
        guard var field = fields[fields: name].first else { return }
        field.name = condition
        conditions.append(field)
    }
}
