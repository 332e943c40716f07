public import Foundation
public import HTTPTypes

extension StoredResponse {
    /// The conditions to ask the origin with whether this response is still right: `If-None-Match` and
    /// `If-Modified-Since`, with the very bytes that the origin sent. Empty where it sent nothing to ask with; a tag or a
    /// date that breaks its grammar is not sent.
    public var validators: HTTPFields {
        var conditions = HTTPFields()
        if let text = fields[.eTag], EntityTag(parsing: text) != nil {
            append(.eTag, as: .ifNoneMatch, to: &conditions)
        }
        if let text = fields[.lastModified], HTTPDate(parsing: text, now: receivedAt) != nil {
            append(.lastModified, as: .ifModifiedSince, to: &conditions)
        }
        return conditions
    }

    /// Whether a 304 with these fields speaks of this response: not where both have a tag and the tags differ (RFC 9111
    /// §4.3.4). Then the origin has to be asked again, without conditions.
    public func isConfirmed(by fields: HTTPFields) -> Bool {
        guard let told = fields[.eTag].flatMap(EntityTag.init(parsing:)),
            let known = self.fields[.eTag].flatMap(EntityTag.init(parsing:))
        else { return true }
        return told.weaklyEquals(known)
    }

    /// The response after the origin has confirmed it by a 304 (RFC 9111 §3.2, §4.3.4).
    ///
    /// The 304's fields replace those of the same name, its times count, and a soft purge is over. `Age` and `Date` are
    /// the 304's or nobody's: they told of the time of the older response.
    ///
    /// - Parameters:
    ///   - fields: of the 304.
    ///   - sent: the fields that the 304 answered; those that `Vary` names are kept.
    public func freshened(
        by fields: HTTPFields, sent: HTTPFields, requestedAt: Date, receivedAt: Date
    ) -> StoredResponse {
        let replaced = Set(fields.map(\.name)).union([.age, .date])
        let merged = HTTPFields(self.fields.filter { !replaced.contains($0.name) } + fields)
        return StoredResponse(
            status: status, fields: merged, sent: sent, requestedAt: requestedAt, receivedAt: receivedAt)
    }

    /// The field is renamed rather than written anew: its bytes need not be UTF-8.
    private func append(_ name: HTTPField.Name, as condition: HTTPField.Name, to conditions: inout HTTPFields) {
        guard var field = fields[fields: name].first else { return }
        field.name = condition
        conditions.append(field)
    }
}
