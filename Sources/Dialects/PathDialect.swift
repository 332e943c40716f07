import DarkroomNetwork
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

/// The source that a path of another service names, as a URL of Darkroom's.
struct ForeignSource: Hashable, Sendable {
    /// The prefix of a source without a scheme; nil = such a source is on the host that it begins with, or is a local
    /// file.
    var base: SourcePrefix?
    /// Whether a source may begin with a host name in place of a scheme.
    var namesHosts = true

    /// The URL of a source that was percent-decoded once.
    func url(_ text: String) throws(InvalidParameter) -> String {
        try Self.check(text)
        if Self.hasScheme(text) { return text }
        let relative = text.drop { $0 == "/" }
        if let base { return try base.canonicalSource(at: relative, "image") }
        let first = relative.prefix { $0 != "/" }
        let isHost = namesHosts && first.contains(".") && first.utf8.count < relative.utf8.count
        return isHost ? "https://\(relative)" : "local:///\(relative)"
    }

    /// Throws for control characters, and for `..` in the path.
    static func check(_ text: String) throws(InvalidParameter) {
        try require(
            !text.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }), "image",
            "The image's URL must not contain control characters.")
        let path = text.utf8.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        try require(
            !path.split(separator: UInt8(ascii: "/")).contains(where: { $0.elementsEqual("..".utf8) }), "image",
            "The image's URL must not contain '..'.")
    }

    /// Whether a text begins with a scheme or a short name of a source. A colon before digits is the colon of a port.
    private static func hasScheme(_ text: String) -> Bool {
        guard text.utf8.first?.isASCIILetter == true, let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else {
            return false
        }
        guard text.utf8[..<colon].allSatisfy({ $0.isASCIIAlphanumeric || "+.-".utf8.contains($0) }) else {
            return false
        }
        let rest = text.utf8[colon...].dropFirst()
        let after = rest.drop(while: \.isASCIIDigit)
        return after.count == rest.count || !(after.isEmpty || "/?#".utf8.contains(after[after.startIndex]))
    }
}

extension SourcePrefix {
    /// The canonical URL of the source at a path behind the prefix.
    func canonicalSource(at path: Substring, _ parameter: String) throws(InvalidParameter) -> String {
        do throws(SourceURLError) {
            return try source(at: String(path)).canonical
        } catch {
            throw InvalidParameter(parameter, "\(error)")
        }
    }
}
