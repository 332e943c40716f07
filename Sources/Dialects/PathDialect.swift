package import DarkroomQuery
package import DarkroomRequests

/// The image URLs of another service, each with the meaning of one query of `/image`.
///
/// A dialect translates and verifies signatures, without side effects. `/image` decides on permissions,
/// limits and caches: the server authorizes the translation, and reads its query as if a client had sent it.
package protocol PathDialect: Sendable {
    /// The value of `compat` that selects the dialect.
    var name: Dialect { get }
    /// The routes of the paths. A segment in braces matches any one segment, and `**` one or more segments at the end.
    /// The server's own paths take precedence.
    var routes: [String] { get }
    /// Whether the server has keys for this dialect, so that it answers no unsigned request.
    var requiresSignature: Bool { get }

    /// The meaning of a request target: path and query as received, without the base path, of any length. Splits the
    /// raw text first and decodes each part once. Throws `invalidParameter` with the option at fault, or
    /// `pathSignatureWrong`.
    func translate(_ target: Substring, limits: QueryLimits) throws(AuthorizationError) -> PathTranslation
}

extension QueryString {
    /// Adds the format that a path names. Without one, the result has the format of the source, as far as the client's
    /// `Accept` covers it.
    mutating func appendFormat(_ format: String?) {
        append(format == nil ? "formats" : "output", format ?? "none")
    }
}
