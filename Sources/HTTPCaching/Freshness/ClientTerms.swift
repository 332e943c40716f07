import HTTPTypes

/// What clients are told about a picture that is made from a stored response: it is never fresher than its original.
///
/// Worked out once and kept with the response.
public struct ClientTerms: Hashable, Sendable {
    /// With the whole lifetimes, before anything is bounded.
    private let told: CacheControl

    /// What `Cache-Control` and `Expires` tell any cache; `CDN-Cache-Control` is for us and not for them. Where they say
    /// nothing, the same guess or standard as ours, and no more than our own lifetime.
    public init(_ stored: StoredResponse, policy: FreshnessPolicy) {
        let freshness = stored.freshness(policy)
        guard policy.respectsOrigin else {
            told = CacheControl(.anyone(maxAge: freshness.lifetime))
            return
        }
        let directives = stored.fields[.cacheControl].map(CacheDirectives.init(parsing:)) ?? CacheDirectives()
        told = Self.control(directives, stored, policy, freshness)
    }

    /// What goes beside `Age: <age>`; a client takes that off, so that the lifetimes here are counted from the origin's
    /// making of the original, as there.
    ///
    /// - Parameters:
    ///   - age: of the original, now.
    ///   - asked: how long the client wants the picture to stay fresh from now on. It shortens.
    ///   - mayExtend: whether `asked` may lengthen too. What must not be stored or used unasked stays that.
    ///   - cap: the most that any client is granted from now on.
    public func cacheControl(age: Duration, asked: Duration?, mayExtend: Bool, cap: Duration) -> CacheControl {
        let bounded = { (lifetime: Duration) in
            var rest = lifetime - age
            if let asked { rest = mayExtend ? asked : min(rest, asked) }
            return age + min(rest, cap)
        }
        var control = told
        control.sharedMaxAge = told.sharedMaxAge.map(bounded)
        switch told.storage {
        case .anyone(let maxAge): control.storage = .anyone(maxAge: bounded(maxAge))
        case .client(let maxAge): control.storage = .client(maxAge: bounded(maxAge))
        case .nobody: break
        }
        if case .anyone(let maxAge) = control.storage, control.sharedMaxAge == maxAge { control.sharedMaxAge = nil }
        return control
    }

    private static func control(
        _ directives: CacheDirectives, _ stored: StoredResponse, _ policy: FreshnessPolicy, _ freshness: Freshness
    ) -> CacheControl {
        if directives.noStore { return .noStore }
        let maxAge =
            (directives.maxAge?.duration ?? stored.expiry?.duration).map(policy.bounded)
            ?? min(stored.heuristic.map { policy.bounded($0.duration) } ?? policy.defaultFresh, freshness.lifetime)
        var control = CacheControl(directives.isPrivate ? .client(maxAge: maxAge) : .anyone(maxAge: maxAge))
        control.needsValidation = directives.noCache || stored.variesByAnything
        guard !control.needsValidation else { return control }
        if !directives.isPrivate { control.sharedMaxAge = directives.sharedMaxAge.map { policy.bounded($0.duration) } }
        control.mustRevalidate = directives.mustRevalidate
        control.proxyRevalidate = directives.proxyRevalidate
        control.isImmutable = directives.isImmutable
        control.staleWhileRevalidate = directives.staleWhileRevalidate?.duration
        control.staleIfError = directives.staleIfError?.duration
        return control
    }
}
