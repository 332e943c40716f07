package import DarkroomRequests

/// The one spelling of an ``ImageQuery``: defaults left out, `dpr` multiplied into the lengths, each value in one form,
/// in the order of the documentation.
///
/// A grammar with the same limits reads it as the same query. Two queries are equal if and only if their canonical
/// texts are equal.
package struct CanonicalQuery: Hashable, Sendable {
    package struct Parameter: Hashable, Encodable, Sendable {
        package let name: String
        /// Not percent-encoded; empty for a name without `=`.
        package let value: String
    }

    /// The parameters, percent-decoded.
    package let query: QueryString

    package init(_ query: ImageQuery, limits: QueryLimits) {
        self.init(query, ImageQueryGrammar(limits: limits))
    }

    init(_ query: ImageQuery, _ grammar: ImageQueryGrammar) {
        self.query = grammar.table.write(ImageQueryDraft(writing: query, grammar.limits))
    }

    package var parameters: [Parameter] { query.pairs.map { Parameter(name: $0.name, value: $0.value ?? "") } }

    /// The query as written after a `?`, percent-encoded.
    package var text: String { query.text }
}

/// Writes the URL of an image: every URL that the server hands out is built here.
package struct ImageURLBuilder: Sendable {
    private let prefix: String
    private let grammar: ImageQueryGrammar
    private let keys: [SigningKey]
    /// The dialect of `/image`.
    private let dialect: Dialect

    /// - Parameters:
    ///   - prefix: The text before the path, as in ``URLSigner``.
    ///   - keys: The signing keys, where the server answers signed requests only.
    ///   - dialect: The dialect of queries of `/image` that do not name theirs. URLs are in Darkroom's own.
    package init(prefix: String, limits: QueryLimits, keys: [SigningKey] = [], dialect: Dialect = .darkroom) {
        self.prefix = prefix
        grammar = ImageQueryGrammar(limits: limits)
        self.keys = keys
        self.dialect = dialect
    }

    /// The canonical query, as `/image` reads it.
    package func canonical(_ query: ImageQuery) -> QueryString {
        var parameters = CanonicalQuery(query, grammar).query
        if dialect != .darkroom { parameters.append(Dialect.parameter, Dialect.darkroom.rawValue) }
        return parameters
    }

    /// The URL of an image. Of its characters, HTML needs only `&` escaped.
    ///
    /// - Parameter authorization: The authorization of the client that gets the URL. A signed URL is signed with the
    ///   same key until the same time. If the admin token replaced the signature, the URL is signed with the first
    ///   unrestricted key.
    package func url(of query: ImageQuery, for authorization: Authorization = Authorization()) -> String {
        url(of: canonical(query), for: authorization)
    }

    func url(of parameters: QueryString, for authorization: Authorization) -> String {
        var parameters = parameters
        if let expires = authorization.expires {
            parameters.append(AccessParameters.expiry.name, AccessParameters.text(of: expires))
        }
        if let key = authorization.key ?? keys.first(where: \.isUnrestricted) ?? keys.first {
            let signature = key.sign(SignedRequest(path: "/image", parameters: parameters))
            parameters.append(AccessParameters.signature.name, signature.text)
        }
        return "\(prefix)/image?\(parameters.text)"
    }
}
