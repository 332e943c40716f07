public import Foundation
public import HTTPTypes

/// The conditions under which a client already has what it asks for (RFC 9110 §13).
public enum Preconditions {
    /// What to answer.
    public enum Outcome: Hashable, Sendable {
        /// With the representation.
        case proceed
        /// 304: the client's own copy is still right.
        case notModified
    }

    /// Judges a request against the representation that it would get (RFC 9110 §13.2.2).
    ///
    /// `If-None-Match` wins over `If-Modified-Since`, even where it cannot be parsed; a date that cannot be parsed is
    /// as good as absent. Methods other than GET and HEAD always proceed.
    public static func evaluate(
        method: HTTPRequest.Method, fields: HTTPFields, tag: EntityTag, lastModified: Date?
    ) -> Outcome {
        guard method == .get || method == .head else { return .proceed }
        if let text = fields[.ifNoneMatch] {
            return EntityTagCondition(parsing: text)?.matches(tag) == true ? .notModified : .proceed
        }
        guard let lastModified, let text = fields[.ifModifiedSince], let since = HTTPDate(parsing: text) else {
            return .proceed
        }
        return HTTPDate(lastModified).date <= since.date ? .notModified : .proceed
    }
}
