import Foundation
import HTTPTypes
import Hummingbird

/// Decides who may ask for what, before anything else is looked at.
struct Permits: Sendable {
    private let keyring: Keyring
    private let presets: Presets
    private let presetsOnly: Bool
    private let token: AdminToken?
    private let now: @Sendable () -> Date

    init(_ configuration: WebConfiguration) {
        keyring = Keyring(configuration.access.signingKeys)
        presets = configuration.access.presets
        presetsOnly = configuration.access.presetsOnly
        token = configuration.adminToken.map(AdminToken.init)
        now = configuration.now
    }

    /// The route, for what may be asked of it.
    func guarding(_ route: AuthorizedRoute) -> Route {
        Route(route.path) { request, context throws(Problem) in
            try request.requireParsableTarget()
            let query = try route.query(request, context)
            let isAdmin = token?.isPresent(in: request.headers) == true
            var permit = try permit(query, at: route.signedPath, route.presets, isAdmin: isAdmin)
            permit.client = permit.key.flatMap { $0.rate == nil ? nil : "key \($0.id)" } ?? context.client
            return try await route.respond(request, context, permit)
        }
    }

    /// The one story of a request's rights: who signed it, until when it is good, and what its parameters come to.
    func permit(
        _ asked: QueryString, at path: String, _ presetUse: Authorizer.PresetUse, isAdmin: Bool
    ) throws(Problem) -> Permit {
        do throws(InvalidParameter) { try asked.requireUnique() } catch { throw Problem(error) }
        var permit = Permit(query: asked)
        let signature = permit.query.removeValue(of: AccessGrammar.signature.name)
        if let signature {
            permit.key = try signer(of: SignedRequest(path: path, parameters: permit.query), signature)
        } else if !keyring.isEmpty {
            guard isAdmin else { throw .signatureRequired }
            permit.isPersonal = true
        }
        permit.expires = try expiry(&permit.query)
        let mayAskAnything = isAdmin && signature == nil
        if !mayAskAnything { try requirePreset(permit, presetUse) }
        guard presetUse == .taken else { return permit }
        do throws(InvalidParameter) {
            permit.query = try presets.expanding(permit.query)
        } catch {
            throw Problem(error)
        }
        return permit
    }

    private func signer(of request: SignedRequest, _ text: String) throws(Problem) -> SigningKey {
        guard let signature = Signature(text), let key = keyring.signer(of: request, by: signature) else {
            throw .signatureWrong
        }
        return key
    }

    private func expiry(_ query: inout QueryString) throws(Problem) -> Date? {
        guard let text = query.removeValue(of: AccessGrammar.expiry.name) else { return nil }
        var draft = AccessGrammar.Draft()
        do throws(InvalidParameter) { try AccessGrammar.expiry.assign(text, &draft) } catch { throw Problem(error) }
        guard let expires = draft.expires, expires > now() else { throw .signatureExpired }
        return expires
    }

    /// What may stand beside a preset where nothing else may: where the picture comes from, and what its bytes do not depend on.
    private static let besidePresets: Set<String> = ["url", "default", "filename", "preset", "fetch"]

    private func requirePreset(_ permit: Permit, _ presetUse: Authorizer.PresetUse) throws(Problem) {
        let allowed = permit.key?.presets
        guard presetsOnly || allowed != nil else { return }
        if presetUse == .missing { throw .presetsOnly(nil) }
        if let other = permit.query.pairs.first(where: { !Self.besidePresets.contains($0.name) }) {
            throw .presetsOnly(other.name)
        }
        guard presetUse == .taken else { return }
        guard let preset = permit.query.pairs.first(where: { $0.name == "preset" }) else { throw .presetsOnly(nil) }
        guard let allowed, !allowed.contains(preset.value ?? "") else { return }
        throw .presetNotAllowed
    }
}

extension Problem {
    static let signatureRequired = Problem(
        .signatureRequired,
        "This server answers signed requests only: 's' is missing. Those who have the admin token may send that instead."
    )

    /// Never says which part was wrong.
    static let signatureWrong = Problem(
        .signatureWrong,
        "The signature 's' is not one of this very request, with these parameters, by a key of this server.",
        parameter: "s")

    static let signatureExpired = Problem(
        .signatureExpired, "The request was good until the time that its 'exp' gives, and that is past.",
        parameter: "exp")

    fileprivate static func presetsOnly(_ parameter: String?) -> Problem {
        let beside = "'url', 'default', 'filename', 'exp' and 's'"
        let detail =
            parameter.map {
                "'\(InvalidParameter.clipped($0))' may not be given: what may is 'preset', beside it \(beside)."
            }
            ?? "Pictures are made by presets alone here: give 'preset', and beside it only \(beside)."
        return Problem(.presetsOnly, detail, parameter: parameter.map(InvalidParameter.clipped))
    }

    fileprivate static let presetNotAllowed = Problem(
        .presetsOnly, "The key of this signature may ask for other presets only.", parameter: "preset")
}
