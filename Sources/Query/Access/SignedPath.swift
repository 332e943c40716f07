/// `/signed/{signature}/{query}`: the same as `/image?{query}&s={signature}`, for caches that key on paths alone.
///
/// The query is in base64url, because proxies decode, merge and refuse percent-encoded slashes within a path.
package enum SignedPath {
    package static let pattern = "/signed/{signature}/{query}"
    /// The path that the signature is made for.
    package static let signedPath = "/image"
    /// The beginning of every path that contains a query.
    package static let prefix = "/signed/"

    package static func path(_ signature: Signature, of request: SignedRequest) -> String {
        "\(prefix)\(signature.text)/\(Base64URL.text(of: request.query.utf8))"
    }

    /// The parameters of a path, its signature among them as `s`.
    package static func parameters(signature: String?, query: String?) throws(AuthorizationError) -> QueryString {
        guard let signature, let bytes = query.flatMap(Base64URL.bytes),
            let text = String(validating: bytes, as: UTF8.self)
        else { throw .signatureWrong }
        var parameters = try AuthorizationError.wrapping(QueryString(parsing: text))
        parameters.append(AccessParameters.signature.name, signature)
        return parameters
    }
}
