public import Foundation
public import HTTPTypes

/// The preconditions of a request: whether the client already has the requested representation (RFC 9110 §13).
public enum Preconditions {
    /// The kind of response to send.
    public enum Outcome: Hashable, Sendable {
        /// The response with the representation.
        case proceed
        /// 304: the client's copy is current.
        case notModified
    }

    /// Evaluates the preconditions against the current representation (RFC 9110 §13.2.2).
    ///
    /// `If-None-Match` takes precedence over `If-Modified-Since`, even if it is malformed. A malformed date is ignored.
    /// Methods other than GET and HEAD always proceed.
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
