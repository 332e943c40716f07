package import DarkroomNetwork
package import DarkroomRequests
package import Foundation

/// Signs requests with a server's keys, as `darkroom sign` does.
package struct URLSigner: Sendable {
    private let keys: [SigningKey]
    private let authorizer: Authorizer
    private let limits: QueryLimits
    private let sourceMap: SourceMap
    private let prefix: String
    private let dialect: Dialect
    private let now: @Sendable () -> Date

    /// Why a request cannot be signed, in one sentence.
    package struct Refusal: Error, CustomStringConvertible {
        package let description: String
    }

    /// - Parameters:
    ///   - authorizer: The server's authorizer, which checks each signed request.
    ///   - sourceMap: The short names of sources. Signatures are made for URLs as they are given, names included.
    ///   - prefix: The text before the path: the server's own URL or its base path, without a trailing slash. Empty =
    ///     signed URLs are relative to the host.
    ///   - dialect: The dialect of queries of `/image` that do not name theirs.
    ///   - now: The time that signed URLs expire by.
    package init(
        keys: [SigningKey], authorizer: Authorizer, limits: QueryLimits, sourceMap: SourceMap = SourceMap(),
        prefix: String, dialect: Dialect = .darkroom, now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.keys = keys
        self.authorizer = authorizer
        self.limits = limits
        self.sourceMap = sourceMap
        self.prefix = prefix
        self.dialect = dialect
        self.now = now
    }

    /// The signed URL of a request. Throws where the server would refuse it.
    ///
    /// - Parameters:
    ///   - request: The query of an image, a path with a query, or a URL of the server, percent-encoded as it would be
    ///     sent. A URL keeps its scheme, host and port; a query or path gets the prefix.
    ///   - keyID: The key to sign with; nil = the first key.
    ///   - expires: When the URL expires; nil = never.
    ///   - inPath: Whether the query is put into the path, for caches that key on paths alone.
    ///   - isUpload: Whether the URL is for images in the body. It has no source, so it is valid for any image.
    package func sign(
        _ request: String, keyID: String? = nil, expires: Date? = nil, inPath: Bool = false, isUpload: Bool = false
    ) throws(Refusal) -> String {
        let key = try key(keyID)
        let (prefix, path, query) = parts(of: request)
        guard let presets = Self.endpoints[path] else { throw Self.refusal(ofPath: path, in: request) }
        guard !inPath || path == SignedPath.signedPath, !inPath || !isUpload else {
            throw Refusal(description: "Only GET requests to /image can have their query in the path.")
        }
        guard !isUpload || path == "/image" else { throw Refusal(description: "Uploads go to /image only.") }
        do throws(AuthorizationError) {
            let hasDialects = !isUpload && ["/", "/image", "/explain"].contains(path)
            let standard = path == "/" ? .wsrv : hasDialects ? dialect : .darkroom
            var parameters = try AuthorizationError.wrapping(Dialect.parameters(of: query, standard: standard))
            if let expires { parameters.append(AccessParameters.expiry.name, AccessParameters.text(of: expires)) }
            let signed = SignedRequest(path: path, parameters: parameters)
            let signature = key.sign(signed)
            parameters.append(AccessParameters.signature.name, signature.text)
            let isTranslated = hasDialects && Dialect.of(parameters, standard: standard) != .darkroom
            let authorization = try authorizer.authorize(
                parameters, path: path, presets: isTranslated ? .unsupported : presets, dialect: standard,
                isAdmin: false)
            try authorization.requireCurrent(at: now())
            try check(
                authorization,
                AuthorizationError.wrapping(image(authorization.query, of: path, isUpload: isUpload, standard)))
            return prefix
                + (inPath ? SignedPath.path(signature, of: signed) : "\(path)?\(signed.query)&s=\(signature.text)")
        } catch {
            throw Refusal(description: error.detail)
        }
    }

    /// The endpoints that take signed requests, and what `preset` means there.
    private static let endpoints: [String: Authorizer.PresetUse] = [
        "/": .accepted, "/image": .accepted, "/info": .irrelevant, "/explain": .accepted, "/srcset": .unsupported,
    ]

    /// A URL whose path is no endpoint is likely to be a source.
    private static func refusal(ofPath path: String, in request: String) -> Refusal {
        let paths = endpoints.keys.sorted().joined(separator: ", ")
        var sentence = "'\(path)' cannot be signed; signed requests go to \(paths)."
        if !request.hasPrefix("/") {
            let source = PercentEncoding.encode(request)
            sentence += " To sign an image of this URL, give 'url=\(source)' and its parameters."
        }
        return Refusal(description: sentence)
    }

    /// The image that a query of an endpoint asks for.
    private func image(
        _ query: QueryString, of path: String, isUpload: Bool, _ standard: Dialect
    ) throws(InvalidParameter) -> ImageQuery {
        if isUpload { return try ImageQueryGrammar.upload(limits: limits).parseUpload(query) }
        return switch path {
        case "/info": try ImageQueryGrammar.info(limits: limits).parse(query)
        case "/explain": try ExplainGrammar(limits: limits, dialect: standard).parse(query).image
        case "/srcset": try SrcsetGrammar(limits: limits).parse(query).first
        default: try ImageQueryGrammar(limits: limits, dialect: standard).parse(query)
        }
    }

    /// Throws if the key does not permit the sources of a query.
    private func check(_ authorization: Authorization, _ query: ImageQuery) throws(AuthorizationError) {
        try authorization.requireSources(
            of: AuthorizationError.wrapping(InvalidParameter.wrapping(query.sourceRequest(sourceMap))))
    }

    private func key(_ id: String?) throws(Refusal) -> SigningKey {
        guard let first = keys.first else {
            throw Refusal(
                description:
                    "No signing key is set: set DARKROOM_SIGNING_KEYS or DARKROOM_SIGNING_KEYS_FILE as for the server.")
        }
        guard let id else { return first }
        guard let key = keys.first(where: { $0.id == id }) else {
            throw Refusal(
                description: "There is no key '\(id)'; the keys are \(keys.map(\.id).joined(separator: ", ")).")
        }
        return key
    }

    private func parts(of request: String) -> (prefix: String, path: String, query: String) {
        let halves = request.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let query = halves.count == 2 ? halves[1] : ""
        if let url = request.prefixMatch(of: /https?:\/\/[^\/?#]+/.ignoresCase()) {
            // A proxy may serve the endpoints below a path of its own.
            let path = halves[0].dropFirst(url.output.count)
            let endpoint = Self.endpoints.keys.first { path.hasSuffix($0) } ?? String(path)
            return (String(halves[0].dropLast(endpoint.count)), endpoint, query)
        }
        guard request.hasPrefix("/") else { return (prefix, "/image", request) }
        let isComplete = prefix.hasPrefix("/") && halves[0].hasPrefix(prefix + "/")
        return (prefix, isComplete ? String(halves[0].dropFirst(prefix.count)) : halves[0], query)
    }
}
