/// Writes the URL of an image: every URL that the server hands out is built here.
package struct ImageURLBuilder: Sendable {
    private let prefix: String
    private let grammar: ImageQueryGrammar
    private let keys: [SigningKey]

    /// - Parameters:
    ///   - prefix: What precedes the path: the server's own URL or its base path, without a trailing slash. Empty =
    ///     URLs are relative to the host.
    ///   - keys: The signing keys, where the server answers signed requests only.
    package init(prefix: String, limits: QueryLimits, keys: [SigningKey] = []) {
        self.prefix = prefix
        grammar = ImageQueryGrammar(limits: limits)
        self.keys = keys
    }

    /// The URL of an image. Of its characters, HTML needs only `&` escaped.
    ///
    /// - Parameter authorization: That of the client who gets the URL. A signed URL is signed with the same key until
    ///   the same time, or, where the admin token stood in for a signature, with the first key that is not restricted.
    package func url(of query: ImageQuery, for authorization: Authorization = Authorization()) -> String {
        var parameters = CanonicalQuery(query, grammar).query
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
