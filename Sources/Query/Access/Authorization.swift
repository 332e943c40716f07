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
    /// Whether the request has the admin token.
    package var isAdmin = false
    /// Whether only the admin token opened a server that is closed to others. Shared caches must not store such a
    /// response.
    package var isPersonal = false

    package init(
        query: QueryString = QueryString(), key: SigningKey? = nil, expires: Date? = nil, isAdmin: Bool = false,
        isPersonal: Bool = false
    ) {
        self.query = query
        self.key = key
        self.expires = expires
        self.isAdmin = isAdmin
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

/// Decides whether a request is permitted until it expires, before its query is read.
package struct Authorizer: Sendable {
    /// The meaning of `preset` at an endpoint.
    package enum PresetUse: Sendable {
        /// `preset` is accepted, and required if the server allows only presets.
        case accepted
        /// The endpoint makes no images, so that presets mean nothing there.
        case irrelevant
        /// The endpoint accepts no presets, so it is closed if the server allows only presets.
        case unsupported
    }

    private let keyring: Keyring
    private let presets: Presets
    private let presetsOnly: Bool
    private let requiresSignature: Bool

    /// - Parameters:
    ///   - keys: If not empty, a request must be signed with one of them, or carry the admin token.
    ///   - presetsOnly: Whether image requests must use a preset.
    ///   - hasPathKeys: Whether there are keys for the paths of another service, which close the server like `keys`.
    package init(keys: [SigningKey], presets: Presets, presetsOnly: Bool, hasPathKeys: Bool = false) {
        keyring = Keyring(keys)
        self.presets = presets
        self.presetsOnly = presetsOnly
        requiresSignature = hasPathKeys || !keys.isEmpty
    }

    /// Checks signature and preset of a request.
    ///
    /// - Parameters:
    ///   - dialect: The dialect of the endpoint's queries that do not name theirs.
    ///   - isAdmin: Whether the request carries the admin token.
    ///   - isOpen: Whether the request needs no signature, although the server has keys.
    package func authorize(
        _ query: QueryString, path: String, presets use: PresetUse, dialect: Dialect = .darkroom, isAdmin: Bool,
        isOpen: Bool = false
    ) throws(AuthorizationError) -> Authorization {
        try AuthorizationError.wrapping(query.requireUniqueNames())
        var authorization = Authorization(query: query, isAdmin: isAdmin)
        let signature = authorization.query.removeValue(of: AccessParameters.signature.name)
        if let signature {
            let request = SignedRequest(path: path, parameters: authorization.query)
            guard let signature = Signature(signature), let (text, key) = keyring.verify(request, by: signature) else {
                throw .signatureWrong
            }
            authorization.key = key
            authorization.query = try AuthorizationError.wrapping(SignedRequest.parameters(of: text))
        } else if requiresSignature, !isOpen {
            guard isAdmin else { throw .signatureRequired }
            authorization.isPersonal = true
        }
        authorization.expires = try expiry(&authorization.query)
        let isUnrestricted = isAdmin && signature == nil
        if isUnrestricted {
            // What presets do not permit must not reach others through a shared cache.
            if presetsOnly { authorization.isPersonal = true }
        } else {
            try requirePreset(authorization, use)
        }
        guard use == .accepted, authorization.query.contains(AccessParameters.preset.name) else { return authorization }
        authorization.query = try AuthorizationError.wrapping(presets.expanding(authorization.query))
        // Without its preset, the query would be read in the endpoint's dialect.
        if dialect != .darkroom, !authorization.query.contains(Dialect.parameter) {
            authorization.query.append(Dialect.parameter, Dialect.darkroom.rawValue)
        }
        return authorization
    }

    /// Checks signature and presets of a path of another service.
    package func authorize(_ path: PathTranslation, isAdmin: Bool) throws(AuthorizationError) -> Authorization {
        let isUnrestricted = isAdmin && !path.isSigned
        guard path.isSigned || isAdmin || !requiresSignature else { throw .pathSignatureRequired }
        var authorization = Authorization(
            query: path.query, expires: path.expires, isAdmin: isAdmin,
            isPersonal: (requiresSignature || presetsOnly && !path.hasOnlyPresets) && !path.isSigned)
        (authorization.isOfPath, authorization.canonicalTarget) = (true, path.canonicalTarget)
        if presetsOnly, !isUnrestricted, !path.hasOnlyPresets { throw .pathPresetsOnly }
        return authorization
    }

    private func expiry(_ query: inout QueryString) throws(AuthorizationError) -> Date? {
        guard let text = query.removeValue(of: AccessParameters.expiry.name) else { return nil }
        var draft = AccessParameters.Draft()
        try AuthorizationError.wrapping(AccessParameters.expiry.assign(text, &draft))
        guard let expires = draft.expires else { throw .signatureExpired }
        return expires
    }

    /// The parameters that are allowed next to a required preset, besides the ones that it leaves to requests: the
    /// source, and parameters that do not change the image.
    private static let allowedBesidePresets: Set<String> = [
        "url", "default", "filename", "preset", "fetch", Dialect.parameter,
    ]

    private func requirePreset(_ authorization: Authorization, _ use: PresetUse) throws(AuthorizationError) {
        let allowed = authorization.key?.presets
        guard presetsOnly || allowed != nil else { return }
        if use == .unsupported { throw .presetsOnly(parameter: nil) }
        let pairs = authorization.query.pairs
        let preset = pairs.first { $0.name == AccessParameters.preset.name }
        let holes = presets.holes(of: preset?.value ?? "")
        if let other = pairs.first(where: {
            !Self.allowedBesidePresets.contains($0.name) && !holes.contains($0.name)
        }) {
            throw .presetsOnly(parameter: other.name)
        }
        guard use == .accepted else { return }
        guard let preset else {
            throw .presetsOnly(parameter: nil)
        }
        guard let allowed, !allowed.contains(preset.value ?? "") else { return }
        throw .presetNotAllowed
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

/// The parameters that identify the client, rather than the image. None of them is part of a canonical query or of a
/// cache key.
enum AccessParameters {
    struct Draft: Sendable {
        var preset: String?
        var expires: Date?
        var signature: String?
    }

    static let preset = Parameter<Draft>(
        "preset",
        .text(pattern: "^[A-Za-z0-9_-]{1,32}$", expected: "the name of a preset of this server") { _ in true },
        \.preset, .access, .respond, "A named set of parameters; parameters of the request take precedence.")

    static let expiry = Parameter<Draft>(
        "exp", ValueFormat(.integer(1...maxSeconds), write: text, read: time), \.expires, .access, .respond,
        "When the signed URL expires, in seconds since 1970.")

    static let signature = Parameter<Draft>(
        "s",
        .text(
            pattern: "^[A-Za-z0-9_-]{1,32}\\.[A-Za-z0-9_-]{43}$",
            expected: "a key ID, a dot and a signature in base64url"
        ) { _ in true }, \.signature, .access, .respond, "The signature of path and parameters.")

    /// In the order of the documentation.
    static let table = ParameterTable([preset, expiry, signature], initial: Draft())

    /// The time of an expiry, written in whole seconds.
    static func text(of time: Date) -> String { "\(Int(time.timeIntervalSince1970))" }

    /// 9999-12-31T23:59:59Z.
    private static let maxSeconds = 253_402_300_799

    /// Reads whole seconds since 1970, in ASCII digits without leading zeros.
    private static func time(_ text: String) -> Date? {
        guard (1...12).contains(text.utf8.count), text.utf8.allSatisfy(\.isASCIIDigit), !text.hasPrefix("0"),
            let seconds = Int(text), seconds <= maxSeconds
        else { return nil }
        return Date(timeIntervalSince1970: Double(seconds))
    }
}
