package import DarkroomHTTPCaching
import DarkroomNetwork
package import DarkroomRequests
package import Foundation

/// The permission of a client: its parameters, and how long they are valid. Only an ``Authorizer`` creates an
/// authorization from a request.
///
/// It is separate from the ``QueryString`` because a client is authorized before the query is read. The authorization
/// also bounds the response.
package struct Authorization: Sendable {
    /// The parameters of the request and of its preset, without `preset`, `exp` and `s`.
    package var query = QueryString()
    package var key: SigningKey?
    /// The name whose share of the server the request counts for: the key if it has a rate of its own, otherwise the
    /// client's address; "" = unknown. Set by the server, which knows addresses.
    package var client = ""
    /// When the request expires; nil = never.
    package var expires: Date?
    /// The target that the request should have had; nil = it has the only one. See ``PathTranslation``.
    package var canonicalTarget: String?
    /// Whether a path of another service was authorized.
    var isOfPath = false
    /// Whether only the admin token opened a server that is closed to others. Shared caches must not store such a
    /// response.
    package var isPersonal = false

    package init(
        query: QueryString = QueryString(), key: SigningKey? = nil, expires: Date? = nil, isPersonal: Bool = false
    ) {
        self.query = query
        self.key = key
        self.expires = expires
        self.isPersonal = isPersonal
    }

    /// The `Cache-Control` of a response, restricted to what this authorization allows.
    package func restricting(_ control: CacheControl) -> CacheControl {
        var control = control
        if expires != nil {
            // A stale response would be used after the URL has expired.
            (control.staleWhileRevalidate, control.staleIfError, control.isImmutable) = (nil, nil, false)
            if control.storage != .noStore { control.mustRevalidate = true }
        }
        if isPersonal, case .public(let maxAge) = control.storage {
            control.storage = .private(maxAge: maxAge)
            (control.sharedMaxAge, control.proxyRevalidate) = (nil, false)
        }
        return control
    }

    /// Throws if the request has expired.
    package func requireCurrent(at now: Date) throws(AuthorizationError) {
        guard let expires, expires <= now else { return }
        throw isOfPath ? .pathExpired : .signatureExpired
    }

    /// Throws if the key does not permit the sources of a request.
    package func requireSources(of request: ImageRequest) throws(AuthorizationError) {
        guard let key, !key.hosts.isEmpty else { return }
        // A mark that the server names is its own choice.
        let drawn = request.parts.flatMap(\.foreignSources)
        let sources = [("url", request.source)] + (request.fallback.map { [("default", $0)] } ?? []) + drawn
        for (parameter, source) in sources where !source.staysWithin(hosts: key.hosts) {
            throw .sourceNotAllowed(parameter: parameter)
        }
    }

    /// How long caches may use a response; nil = without limit.
    package func remaining(at now: Date) -> Duration? {
        expires.map { .seconds(max(0, $0.timeIntervalSince(now).rounded(.down))) }
    }
}

/// Why a request was refused before its query was read.
package enum AuthorizationError: Error, Hashable {
    case invalidParameter(InvalidParameter)
    case signatureRequired
    case signatureWrong
    case signatureExpired
    /// Image requests must use a preset. The parameter that must not be given; nil = `preset` is missing.
    case presetsOnly(parameter: String?)
    case presetNotAllowed
    case sourceNotAllowed(parameter: String)
    /// A path of another service without a signature, although the server has keys.
    case pathSignatureRequired
    case pathSignatureWrong
    /// A path of another service has expired.
    case pathExpired
    /// A path of another service has more than presets, although image requests must use a preset.
    case pathPresetsOnly

    /// The value, or the error of its parameter.
    package static func wrapping<Value>(
        _ value: @autoclosure () throws(InvalidParameter) -> Value
    ) throws(AuthorizationError) -> Value {
        do throws(InvalidParameter) { return try value() } catch { throw .invalidParameter(error) }
    }

    /// The parameter at fault, if any.
    package var parameter: String? {
        switch self {
        case .invalidParameter(let error): error.parameter
        case .signatureRequired: nil
        case .signatureWrong: AccessParameters.signature.name
        case .signatureExpired: AccessParameters.expiry.name
        case .presetsOnly(let parameter): parameter.map { InvalidParameter.clipped($0) }
        case .presetNotAllowed: AccessParameters.preset.name
        case .sourceNotAllowed(let parameter): parameter
        case .pathSignatureRequired, .pathSignatureWrong, .pathExpired, .pathPresetsOnly: nil
        }
    }

    /// One or two sentences for the client.
    package var detail: String {
        switch self {
        case .invalidParameter(let error): error.detail
        case .signatureRequired:
            "This server answers signed requests only, and 's' is missing. The admin token is accepted instead."
        case .signatureWrong:
            "The signature 's' does not match this request: sign its path and parameters with a key of this server."
        case .signatureExpired: "The signed URL expired at the time given by 'exp'."
        case .presetsOnly(let parameter?):
            "Parameter '\(InvalidParameter.clipped(parameter))' is not allowed: "
                + "give 'preset', and besides it only \(Self.allowedBesidePresets)."
        case .presetsOnly(nil):
            "This server makes images with presets only: give 'preset', and besides it only "
                + "\(Self.allowedBesidePresets)."
        case .presetNotAllowed: "The key of this signature does not allow this preset."
        case .sourceNotAllowed: "The key of this signature does not allow this host."
        case .pathSignatureRequired:
            "This server answers signed requests only, and this path is not signed. "
                + "The admin token is accepted instead."
        case .pathSignatureWrong:
            "The signature does not match this path: sign the path as it is sent, with a key of this server."
        case .pathExpired: "The URL expired at the time that its path gives."
        case .pathPresetsOnly:
            "This server makes images with presets only: give presets in the path, and no other option."
        }
    }

    private static let allowedBesidePresets = "'url', 'default', 'filename', 'exp' and 's'"
}
