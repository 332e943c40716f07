import DarkroomDialects
import DarkroomQuery
import DarkroomRequests

/// Turns URLs of other services into URLs of this server, as `darkroom translate` does.
package struct URLTranslator: Sendable {
    private let paths: (any PathDialect)?
    private let grammar: ImageQueryGrammar
    private let builder: ImageURLBuilder
    private let limits: QueryLimits

    /// Why a URL cannot be translated, in one or two sentences.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    /// The translator for a server with this configuration; nil if the server accepts URLs of no other service.
    package init?(_ configuration: WebConfiguration) {
        guard configuration.pathDialect != nil || configuration.dialect != .darkroom else { return nil }
        paths = configuration.pathDialect
        limits = configuration.limits
        grammar = ImageQueryGrammar(limits: configuration.limits, dialect: configuration.dialect)
        builder = ImageURLBuilder(configuration)
    }

    /// The equal URL of this server, signed if it has signing keys, for a URL with or without scheme and host.
    package func translate(_ url: String) throws(Refusal) -> String {
        let target = Self.target(of: url)
        do throws(AuthorizationError) {
            if let paths {
                let translation = try paths.translate(target, limits: limits)
                let query = try AuthorizationError.wrapping(grammar.parse(translation.query))
                return builder.url(
                    of: query, for: Authorization(query: translation.query, expires: translation.expires))
            }
            let text = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            return builder.url(
                of: try AuthorizationError.wrapping(
                    grammar.parse(
                        Dialect.parameters(of: text.count == 2 ? String(text[1]) : "", standard: .wsrv))))
        } catch {
            throw Refusal(description: error.detail)
        }
    }

    /// Path and query of a URL.
    private static func target(of url: String) -> Substring {
        for scheme in ["https://", "http://", "//"] where url.hasPrefix(scheme) {
            let rest = url.dropFirst(scheme.count)
            return rest.utf8.firstIndex(of: UInt8(ascii: "/")).map { rest[$0...] } ?? "/"
        }
        return url[...]
    }
}
