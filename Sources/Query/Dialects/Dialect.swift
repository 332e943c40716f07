package import DarkroomRequests
package import Foundation

/// Queries have Darkroom's own parameters, or wsrv.nl's, which ``WsrvTable`` translates. Other services have
/// paths.
extension Dialect {
    /// The dialect of queries that do not name theirs, where a server accepts the URLs of this one.
    package var queryDialect: Dialect { self == .wsrv ? .wsrv : .darkroom }

    /// The parameter that names the dialect of a query.
    package static let parameter = "compat"

    /// The dialect that a query names, otherwise its endpoint's standard. Presets are written in Darkroom's dialect, so
    /// a query with a preset is too.
    package static func of(_ query: QueryString, standard: Dialect) -> Dialect {
        if let pair = query.pairs.first(where: { $0.name == parameter }) {
            // The grammar refuses other names.
            return Dialect(rawValue: (pair.value ?? "").lowercased())?.queryDialect ?? .darkroom
        }
        return query.contains(AccessParameters.preset.name) ? .darkroom : standard
    }

    /// The parameters after a `?`. wsrv.nl reads a percent sign that encodes nothing as a percent sign, as in `w=50%`.
    /// Of repeated parameters it takes the first, unless the query is signed.
    package static func parameters(of text: String, standard: Dialect) throws(InvalidParameter) -> QueryString {
        let strict = Result { () throws(InvalidParameter) in try QueryString(parsing: text) }
        // Nearly all requests, which need not be read twice.
        if case .success(let query) = strict, of(query, standard: standard) == .darkroom { return query }
        let lenient = QueryString(decodingLeniently: text)
        guard of(lenient, standard: standard) == .wsrv else { return try strict.get() }
        // In a signed query, every parameter is signed: the authorizer refuses repeated parameters.
        return lenient.contains(AccessParameters.signature.name) ? lenient : lenient.firstOfEachName
    }
}

/// A query in Darkroom's own parameters, translated from another dialect.
package struct Translation: Hashable, Sendable {
    /// A parameter that changes nothing.
    package struct Ignored: Hashable, Encodable, Sendable {
        package let name: String
        /// Why, in a few words.
        package let reason: String

        package init(name: String, reason: String) {
            self.name = name
            self.reason = reason
        }
    }

    package let dialect: Dialect
    package let query: QueryString
    /// In the order of the query.
    package let ignored: [Ignored]

    /// The translation of a query; nil if it is Darkroom's own.
    init?(_ query: QueryString, from dialect: Dialect, limits: QueryLimits) throws(InvalidParameter) {
        guard dialect == .wsrv else { return nil }
        self.dialect = dialect
        (self.query, ignored) = try WsrvTable.translate(query, limits: limits)
    }
}

/// A path of another service, translated into a query in Darkroom's own parameters.
package struct PathTranslation: Hashable, Sendable {
    /// The query as `/image` reads it. A document about an image has `output=json`.
    package var query: QueryString
    /// Whether a key or a trusted text signed the path.
    package let isSigned: Bool
    /// The one request target of a signed path, if the client sent another one: with a query that is not signed, or
    /// with another spelling of the signature.
    package var canonicalTarget: String?
    /// When the URL expires; nil = never.
    package let expires: Date?
    /// Whether presets alone decide how the image is made. Servers that allow only presets accept no other path.
    package let hasOnlyPresets: Bool
    /// The options that change nothing, in the order of the path.
    package let ignored: [Translation.Ignored]

    /// - Parameter text: What the query was translated from.
    package init(
        of text: VerifiedText, query: QueryString, expires: Date? = nil, hasOnlyPresets: Bool = false,
        ignored: [Translation.Ignored] = []
    ) {
        self.query = query
        isSigned = text.isSigned
        self.expires = expires
        self.hasOnlyPresets = hasOnlyPresets
        self.ignored = ignored
    }
}
