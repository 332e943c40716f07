package import DarkroomDialects
package import DarkroomHTTPServer
package import DarkroomNetwork
package import DarkroomOrigin
package import DarkroomQuery
package import DarkroomRequests
package import Foundation

/// The configuration of the endpoints and listeners.
package struct WebConfiguration: Sendable {
    package var address = ListenerAddress.host("127.0.0.1", port: 8080)
    /// The address of a listener for administration, which the main listener then does not serve; nil = no such
    /// listener.
    package var adminAddress: ListenerAddress?
    /// The path that a reverse proxy puts in front of the main listener's paths, such as `/images`; empty = none.
    package var basePath = ""
    /// Parameters that are removed from requests, outside of signatures and cache keys.
    package var ignoredParameters = IgnoredParameters()
    /// The maximum lifetime that `Cache-Control` grants to clients.
    package var variantMaxAge = Duration.seconds(365 * 86_400)
    /// Whether `/info` discloses GPS positions.
    package var allowGPS = false
    /// Receives the images that clients send; nil = `POST /image` is refused.
    package var uploads: UploadBudget?
    /// The bearer token for administration and forced refresh. When nil, only an admin listener serves administration,
    /// without authentication.
    package var adminToken: String?
    /// How long caches may keep the problem of an image that its origin does not have; 0 = not at all.
    package var missingMaxAge = Duration.seconds(10)
    /// The prefix of URLs that the server hands out, without a trailing slash; nil = they are relative to the host.
    package var publicURL: String?
    /// This server's pseudonym in `Via`. A request that has it already passed through this server.
    package var viaPseudonym = "darkroom"
    package var limits = QueryLimits()
    /// The pipeline's limits on source and result.
    package var pixelLimits = PixelLimits()
    /// The maximum size of a source in bytes.
    package var maxSourceBytes = 50 << 20
    package var clientLimits = ClientLimits.default
    /// The access control of image requests.
    package var access = Access()
    /// What signing keys have used, which a reload keeps.
    package var accounts = KeyAccounts()
    /// The short names of sources.
    package var sourceMap = SourceMap()
    package var servesPlayground = true
    /// Whether sources may be files of a folder, besides the ``SampleImages`` of the playground.
    package var hasLocalFiles = false
    /// Whether `/robots.txt` lets crawlers fetch images.
    package var allowsRobots = false
    package var servesIIIF = false
    /// Whose parameters `/image` and `/explain` read in a query that does not say.
    package var dialect = Dialect.darkroom
    /// The paths of another service that the server understands; nil = none.
    package var pathDialect: (any PathDialect)?
    /// How much of a source's URL the access log contains.
    package var logSources = LoggedSource.host
    /// How the form of an image follows from header fields.
    package var negotiation = NegotiationPolicy()
    /// The field with purge tags that responses have.
    package var responseTags = ResponseTags.none
    /// Writes this field; nil = no field, or the listeners do not exist yet.
    var tagger: ResponseTagger?
    /// What the operator would have to allow so that a source may be requested; nil if nothing is missing.
    package var missingPermission: @Sendable (SourceURL) -> SourcePermission? = { _ in nil }
    /// The clock for the expiry of signatures.
    package var now: @Sendable () -> Date = { Date() }

    /// The same defaults as the command line.
    package static var `default`: WebConfiguration { WebConfiguration() }

    /// Whether images require a signature, by a key of this server or of the paths of another service, or the admin
    /// token.
    package var requiresSignature: Bool { access.requiresSignature(with: pathDialect) }

    /// The sites whose scripts may read responses below `/iiif`: all, as the Image API requires.
    var iiifOrigins: CORSPolicy { servesIIIF ? .all : .none }

    /// What precedes the types of problems; empty = they are relative.
    var problemBase: String { publicURL ?? "" }

    /// What leads on from a problem that a person sees.
    var problemLinks: String {
        let playground = servesPlayground ? ", <a href=\"\(basePath)/\">the playground</a>" : ""
        return """
            <p>See <a href="\(basePath)/reference#parameters">all parameters</a>\(playground) and \
            <a href="\(basePath)/problems">all problems</a>.</p>
            """
    }

    /// What precedes the path of an endpoint in the URLs that the server hands out.
    var urlPrefix: String { publicURL ?? basePath }
}

/// Access control: signing keys, presets and cross-origin sharing.
package struct Access: Hashable, Sendable {
    /// With at least one key, image requests must be signed or carry the admin token. IDs of keys are unique.
    package var signingKeys: [SigningKey] = []
    /// The rates that keys have of their own, by key ID: how often their signatures may be used, all clients together.
    package var keyRates: [String: Rate] = [:]
    package var keyQuotas: [String: KeyQuotas] = [:]
    /// The presets of this server.
    package var presets = Presets()
    /// Whether image requests must use a preset.
    package var presetsOnly = false
    /// The sites whose scripts may read responses.
    package var origins = CORSPolicy.none

    /// The client that a request counts for: the key that signed it if the key has a rate, else the address.
    func client(of key: SigningKey?, address: @autoclosure () -> String) -> String {
        if let key, keyRates[key.id] != nil { return "key \(key.id)" }
        return address()
    }

    /// Everything is allowed to everyone.
    package init() {}

    /// Whether images require a signature or the admin token on a server that accepts these paths.
    package func requiresSignature(with paths: (any PathDialect)?) -> Bool {
        !signingKeys.isEmpty || paths?.requiresSignature == true
    }
}

extension Authorizer {
    init(_ configuration: WebConfiguration) {
        let access = configuration.access
        self.init(
            keys: access.signingKeys, presets: access.presets, presetsOnly: access.presetsOnly,
            hasPathKeys: configuration.pathDialect?.requiresSignature == true)
    }
}

extension URLSigner {
    /// Signs as a server of this configuration.
    package init(_ configuration: WebConfiguration) {
        self.init(
            keys: configuration.access.signingKeys, authorizer: Authorizer(configuration), limits: configuration.limits,
            sourceMap: configuration.sourceMap, prefix: configuration.urlPrefix, dialect: configuration.dialect,
            now: configuration.now)
    }
}

extension ImageURLBuilder {
    init(_ configuration: WebConfiguration) {
        self.init(
            prefix: configuration.urlPrefix, limits: configuration.limits, keys: configuration.access.signingKeys,
            dialect: configuration.dialect)
    }
}
