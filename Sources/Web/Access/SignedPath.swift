import Foundation
import Hummingbird

/// `/signed/{signature}/{query}`: the same as `/image?{query}&s={signature}` for caches that look at paths alone. The query is in base64url,
/// since proxies decode, merge and refuse slashes that are percent-encoded within a path.
enum SignedPath {
    static let pattern = "/signed/{signature}/{query}"
    static let signedPath = "/image"
    /// What begins a path that holds a query.
    static let prefix = "/signed/"

    static func path(_ signature: Signature, of request: SignedRequest) -> String {
        "\(prefix)\(signature.text)/\(Base64URL.text(of: request.query.utf8))"
    }

    /// The parameters, with the signature as the one that it stands for. Nothing of it may be given a second time.
    @Sendable static func query(_ request: Request, _ context: ServerRequestContext) throws(Problem) -> QueryString {
        guard request.uri.query ?? "" == "" else {
            throw Problem(.invalidParameter, "The parameters are in the path here, and there may be none behind a '?'.")
        }
        guard let signature = context.parameters.get("signature"), let packed = context.parameters.get("query"),
            let bytes = Base64URL.bytes(of: packed), let text = String(validating: bytes, as: UTF8.self)
        else { throw .signatureWrong }
        var query = try QueryString.reading(text)
        query.pairs.append(QueryString.Pair(name: AccessGrammar.signature.name, value: signature))
        return query
    }
}
