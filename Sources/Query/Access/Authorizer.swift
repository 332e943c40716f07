import DarkroomNetwork
package import DarkroomRequests
package import Foundation

/// Decides whether a request is permitted, before its query is read.
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
    private let now: @Sendable () -> Date

    /// - Parameters:
    ///   - keys: If not empty, a request must be signed with one of them, or carry the admin token.
    ///   - presetsOnly: Whether image requests must use a preset.
    ///   - hasPathKeys: Whether there are keys for the paths of another service, which close the server like `keys`.
    ///   - now: The time that signed URLs expire by.
    package init(
        keys: [SigningKey], presets: Presets, presetsOnly: Bool, hasPathKeys: Bool = false,
        now: @escaping @Sendable () -> Date
    ) {
        keyring = Keyring(keys)
        self.presets = presets
        self.presetsOnly = presetsOnly
        requiresSignature = hasPathKeys || !keys.isEmpty
        self.now = now
    }

    /// Checks signature, expiry and preset of a request.
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
        var authorization = Authorization(query: query)
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
        try authorization.requireCurrent(at: now())
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

    /// Checks signature, expiry and presets of a path of another service.
    package func authorize(_ path: PathTranslation, isAdmin: Bool) throws(AuthorizationError) -> Authorization {
        let isUnrestricted = isAdmin && !path.isSigned
        guard path.isSigned || isAdmin || !requiresSignature else { throw .pathSignatureRequired }
        var authorization = Authorization(
            query: path.query, expires: path.expires,
            isPersonal: (requiresSignature || presetsOnly && !path.hasOnlyPresets) && !path.isSigned)
        (authorization.isOfPath, authorization.canonicalTarget) = (true, path.canonicalTarget)
        try authorization.requireCurrent(at: now())
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
