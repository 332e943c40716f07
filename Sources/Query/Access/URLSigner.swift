package import DarkroomNetwork
import DarkroomPipeline
package import Foundation

/// Signs requests with a server's keys, as `darkroom sign` does.
package struct URLSigner: Sendable {
    private let keys: [SigningKey]
    private let authorizer: Authorizer
    private let limits: QueryLimits
    private let sourceMap: SourceMap
    private let prefix: String
    private let dialect: Dialect

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
    package init(
        keys: [SigningKey], authorizer: Authorizer, limits: QueryLimits, sourceMap: SourceMap = SourceMap(),
        prefix: String, dialect: Dialect = .darkroom
    ) {
        self.keys = keys
        self.authorizer = authorizer
        self.limits = limits
        self.sourceMap = sourceMap
        self.prefix = prefix
        self.dialect = dialect
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
        guard let endpoint = isUpload && path == "/image" ? Self.upload : Self.endpoints[path] else {
            let paths = Self.endpoints.keys.sorted().joined(separator: ", ")
            throw Refusal(description: "'\(path)' cannot be signed; signed requests go to \(paths).")
        }
        guard !inPath || path == SignedPath.signedPath, !inPath || !isUpload else {
            throw Refusal(description: "Only GET requests to /image can have their query in the path.")
        }
        guard !isUpload || path == "/image" else { throw Refusal(description: "Uploads go to /image only.") }
        do throws(AuthorizationError) {
            let standard = endpoint.dialect(standard: dialect)
            var parameters = try AuthorizationError.wrapping(Dialect.parameters(of: query, standard: standard))
            if let expires { parameters.append(AccessParameters.expiry.name, AccessParameters.text(of: expires)) }
            let signed = SignedRequest(path: path, parameters: parameters)
            let signature = key.sign(signed)
            parameters.append(AccessParameters.signature.name, signature.text)
            let isTranslated = endpoint.hasDialects && Dialect.of(parameters, standard: standard) != .darkroom
            let authorization = try authorizer.authorize(
                parameters, path: path, presets: isTranslated ? .unsupported : endpoint.presets, isAdmin: false)
            try check(authorization, endpoint, standard)
            return prefix
                + (inPath ? SignedPath.path(signature, of: signed) : "\(path)?\(signed.query)&s=\(signature.text)")
        } catch {
            throw Refusal(description: error.detail)
        }
    }

    /// How an endpoint reads its queries.
    private struct Endpoint {
        let presets: Authorizer.PresetUse
        var hasDialects = false
        /// Whether the dialect is wsrv.nl's, whatever the dialect of other URLs is.
        var isWsrv = false
        let read: @Sendable (QueryString, QueryLimits, Dialect) throws(InvalidParameter) -> ImageQuery?

        func dialect(standard: Dialect) -> Dialect { isWsrv ? .wsrv : hasDialects ? standard : .darkroom }
    }

    private static let endpoints: [String: Endpoint] = [
        "/": Endpoint(presets: .accepted, hasDialects: true, isWsrv: true) {
            query, limits, dialect throws(InvalidParameter) in
            try ImageQueryGrammar(limits: limits, dialect: dialect).parse(query)
        },
        "/image": Endpoint(presets: .accepted, hasDialects: true) {
            query, limits, dialect throws(InvalidParameter) in
            try ImageQueryGrammar(limits: limits, dialect: dialect).parse(query)
        },
        "/info": Endpoint(presets: .irrelevant) { query, limits, _ throws(InvalidParameter) in
            try ImageQueryGrammar.info(limits: limits).parse(query)
        },
        "/explain": Endpoint(presets: .accepted, hasDialects: true) {
            query, limits, dialect throws(InvalidParameter) in
            try ExplainGrammar(limits: limits, dialect: dialect).parse(query).image
        },
        "/srcset": Endpoint(presets: .unsupported) { query, limits, _ throws(InvalidParameter) in
            try SrcsetGrammar(limits: limits).parse(query).first
        },
    ]

    private static let upload = Endpoint(presets: .accepted) { query, limits, _ throws(InvalidParameter) in
        try ImageQueryGrammar.upload(limits: limits).parseUpload(query)
    }

    /// Throws if the query is malformed, or if the key does not permit its sources.
    private func check(
        _ authorization: Authorization, _ endpoint: Endpoint, _ standard: Dialect
    ) throws(AuthorizationError) {
        guard let query = try AuthorizationError.wrapping(endpoint.read(authorization.query, limits, standard)) else {
            return
        }
        let request: ImageRequest
        do throws(InvalidSourceURL) {
            request = try query.sourceRequest(sourceMap)
        } catch {
            throw .invalidParameter(InvalidParameter(error.parameter, error.detail))
        }
        try authorization.requireSources(of: request)
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
