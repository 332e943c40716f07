package import DarkroomRequests

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
