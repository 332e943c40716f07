import Foundation

/// Writes down where a picture is: each address of a picture that is given out is made here.
struct ImageURLBuilder: Sendable {
    /// What stands before the path; empty = addresses are relative to the server.
    private let prefix: String
    private let limits: QueryLimits
    private let keys: [SigningKey]

    init(_ configuration: WebConfiguration) {
        prefix = configuration.publicURL ?? ""
        limits = configuration.limits
        keys = configuration.access.signingKeys
    }

    /// Letters, digits and what an address needs, of which HTML takes all but `&` as it is.
    ///
    /// - Parameter permit: of whoever is given it. Where signatures are needed it is signed by the same key and until the same time, or by
    ///   the first key that may sign anything where the admin token stood in for a signature.
    func callAsFunction(_ query: ImageQuery, _ permit: Permit = Permit()) -> String {
        var parameters = CanonicalQuery(query, limits: limits).query
        if let expires = permit.expires {
            parameters.pairs.append(.init(name: AccessGrammar.expiry.name, value: AccessGrammar.text(of: expires)))
        }
        if let key = permit.key ?? keys.first(where: \.isUnrestricted) ?? keys.first {
            let signature = key.sign(SignedRequest(path: "/image", parameters: parameters))
            parameters.pairs.append(.init(name: AccessGrammar.signature.name, value: signature.text))
        }
        return "\(prefix)/image?\(parameters.text)"
    }
}
