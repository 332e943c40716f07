import DarkroomPipeline
package import Foundation

/// Signs requests, for whoever has the keys of a server.
package struct URLSigner: Sendable {
    private let configuration: WebConfiguration

    /// Why something can't be signed: a sentence.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    package init(_ configuration: WebConfiguration) {
        self.configuration = configuration
    }

    /// The address of a request, which is refused here where the server would refuse it.
    ///
    /// - Parameters:
    ///   - request: the query of a picture, or a path with a query, percent-encoded as it would be sent.
    ///   - keyID: nil = the first key.
    ///   - expires: nil = it is good for as long as the key is.
    ///   - inPath: whether the query goes into the path, for caches that look at nothing else.
    package func sign(
        _ request: String, keyID: String? = nil, expires: Date? = nil, inPath: Bool = false
    ) throws(Refusal) -> String {
        let key = try key(keyID)
        let (path, query) = Self.parts(of: request)
        guard let language = Self.languages[path] else {
            let paths = Self.languages.keys.sorted().joined(separator: ", ")
            throw Refusal(description: "'\(path)' takes no signature; what does is \(paths).")
        }
        guard !inPath || path == SignedPath.signedPath else {
            throw Refusal(description: "Only pictures, which are at /image, can have their query in the path.")
        }
        do throws(Problem) {
            var parameters = try QueryString.reading(query)
            if let expires {
                parameters.pairs.append(
                    QueryString.Pair(name: AccessGrammar.expiry.name, value: AccessGrammar.text(of: expires)))
            }
            let signed = SignedRequest(path: path, parameters: parameters)
            let signature = key.sign(signed)
            parameters.pairs.append(QueryString.Pair(name: AccessGrammar.signature.name, value: signature.text))
            let permit = try Permits(configuration).permit(parameters, at: path, language.presets, isAdmin: false)
            try check(permit, language)
            let target = inPath ? SignedPath.path(signature, of: signed) : "\(path)?\(signed.query)&s=\(signature.text)"
            return (configuration.publicURL ?? "") + target
        } catch {
            throw Refusal(description: error.detail)
        }
    }

    /// What a path takes.
    private struct Language {
        let presets: Authorizer.PresetUse
        let read: @Sendable (QueryString, QueryLimits) throws(InvalidParameter) -> ImageQuery?
    }

    private static let languages: [String: Language] = [
        "/image": Language(presets: .taken) { query, limits throws(InvalidParameter) in
            try ImageQueryGrammar(limits: limits).parse(query)
        },
        "/info": Language(presets: .needless) { query, limits throws(InvalidParameter) in
            try ImageQueryGrammar.info(limits: limits).parse(query)
        },
        "/explain": Language(presets: .taken) { query, limits throws(InvalidParameter) in
            try ExplainGrammar(limits: limits).parse(query).image
        },
        "/srcset": Language(presets: .missing) { query, limits throws(InvalidParameter) in
            try SrcsetGrammar(limits: limits).parse(query).pictures.first
        },
    ]

    private func check(_ permit: Permit, _ language: Language) throws(Problem) {
        let query: ImageQuery?
        do throws(InvalidParameter) {
            query = try language.read(permit.query, configuration.limits)
        } catch {
            throw Problem(error)
        }
        if let query { try permit.requireSources(of: ImageRequest(sourcesOf: query)) }
    }

    private func key(_ id: String?) throws(Refusal) -> SigningKey {
        let keys = configuration.access.signingKeys
        guard let first = keys.first else {
            throw Refusal(
                description:
                    "There is no key: set DARKROOM_SIGNING_KEYS or DARKROOM_SIGNING_KEYS_FILE as for the server.")
        }
        guard let id else { return first }
        guard let key = keys.first(where: { $0.id == id }) else {
            throw Refusal(description: "There is no key '\(id)'; there are \(keys.map(\.id).joined(separator: ", ")).")
        }
        return key
    }

    private static func parts(of request: String) -> (path: String, query: String) {
        guard request.hasPrefix("/") else { return ("/image", request) }
        let halves = request.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        return (halves[0], halves.count == 2 ? halves[1] : "")
    }
}
