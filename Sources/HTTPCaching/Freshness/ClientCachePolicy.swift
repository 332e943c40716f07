import HTTPTypes

/// The `Cache-Control` that clients receive for an image from a stored response. An image is never fresher than its
/// original.
///
/// Calculated once and stored with the response.
public struct ClientCachePolicy: Hashable, Sendable {
    /// The directives with their whole lifetimes, before any limit applies.
    private let base: CacheControl

    /// Derives the policy from the origin's `Cache-Control` and `Expires`, which apply to any cache, unlike
    /// `CDN-Cache-Control`. Without them it is the heuristic or default lifetime, but no more than the lifetime used
    /// here.
    public init(_ stored: StoredResponse, policy: FreshnessPolicy) {
        let freshness = stored.freshness(policy)
        guard policy.respectsOrigin else {
            base = CacheControl(.public(maxAge: freshness.lifetime))
            return
        }
        let directives = stored.fields[.cacheControl].map(CacheDirectives.init(parsing:)) ?? CacheDirectives()
        base = Self.cacheControl(directives, stored, policy, freshness)
    }

    /// The field to send together with `Age: <age>`. Clients subtract that age, so lifetimes count from when the origin
    /// generated the original.
    ///
    /// - Parameters:
    ///   - age: the current age of the original.
    ///   - sentAge: the age to send; nil = the age of the original. With zero, lifetimes count from now, also in caches
    ///     that ignore `Age`.
    ///   - asked: how long from now the client wants the image to stay fresh. It shortens the lifetime.
    ///   - mayExtend: whether `asked` may extend the lifetime too. It never lifts `no-store` or `no-cache`.
    ///   - cap: the longest lifetime from now that any client is granted.
    public func cacheControl(
        age: Duration, sentAge: Duration? = nil, asked: Duration?, mayExtend: Bool, cap: Duration
    ) -> CacheControl {
        let limited = { (lifetime: Duration) in
            var rest = lifetime - age
            if let asked { rest = mayExtend ? asked : min(rest, asked) }
            return (sentAge ?? age) + min(rest, cap)
        }
        var control = base
        control.sharedMaxAge = base.sharedMaxAge.map(limited)
        switch base.storage {
        case .public(let maxAge): control.storage = .public(maxAge: limited(maxAge))
        case .private(let maxAge): control.storage = .private(maxAge: limited(maxAge))
        case .noStore: break
        }
        if case .public(let maxAge) = control.storage, control.sharedMaxAge == maxAge { control.sharedMaxAge = nil }
        return control
    }

    private init(_ base: CacheControl) {
        self.base = base
    }

    /// The policy of a response that depends on two responses: never fresher and never more widely storable than either
    /// of them.
    ///
    /// - Parameter lead: by how much the first response is older than the other. The result's lifetimes count from the
    ///   older response, so it belongs to the age of that response.
    public func combined(with other: ClientCachePolicy, lead: Duration) -> ClientCachePolicy {
        // Whole milliseconds: differences of dates are noisy, and equal policies are encoded once.
        let lead = Duration.milliseconds(Int64((lead / .milliseconds(1)).rounded(.towardZero)))
        let own = base.outliving(by: lead < .zero ? .zero - lead : .zero)
        return ClientCachePolicy(own.restricted(by: other.base.outliving(by: max(lead, .zero))))
    }

    private static func cacheControl(
        _ directives: CacheDirectives, _ stored: StoredResponse, _ policy: FreshnessPolicy, _ freshness: Freshness
    ) -> CacheControl {
        if directives.noStore { return .noStore }
        let maxAge =
            (directives.maxAge?.duration ?? stored.expiresLifetime?.duration).map(policy.clamped)
            ?? min(
                stored.heuristicLifetime.map { policy.clamped($0.duration) } ?? policy.defaultFresh, freshness.lifetime)
        var control = CacheControl(directives.isPrivate ? .private(maxAge: maxAge) : .public(maxAge: maxAge))
        control.needsValidation = directives.noCache || stored.variesByAnything
        guard !control.needsValidation else { return control }
        if !directives.isPrivate { control.sharedMaxAge = directives.sharedMaxAge.map { policy.clamped($0.duration) } }
        control.mustRevalidate = directives.mustRevalidate
        control.proxyRevalidate = directives.proxyRevalidate
        control.isImmutable = directives.isImmutable
        control.staleWhileRevalidate = directives.staleWhileRevalidate?.duration
        control.staleIfError = directives.staleIfError?.duration
        return control
    }
}

extension CacheControl {
    /// Nil for `no-store`.
    private var maxAge: Duration? {
        switch storage {
        case .public(let maxAge), .private(let maxAge): maxAge
        case .noStore: nil
        }
    }

    /// The same directives with longer lifetimes.
    fileprivate func outliving(by duration: Duration) -> CacheControl {
        var control = self
        control.sharedMaxAge = sharedMaxAge.map { $0 + duration }
        switch storage {
        case .public(let maxAge): control.storage = .public(maxAge: maxAge + duration)
        case .private(let maxAge): control.storage = .private(maxAge: maxAge + duration)
        case .noStore: break
        }
        return control
    }

    /// The directives that obey both.
    fileprivate func restricted(by other: CacheControl) -> CacheControl {
        guard let own = maxAge, let others = other.maxAge else { return .noStore }
        let isPublic = storage == .public(maxAge: own) && other.storage == .public(maxAge: others)
        let maxAge = min(own, others)
        var control = CacheControl(isPublic ? .public(maxAge: maxAge) : .private(maxAge: maxAge))
        control.needsValidation = needsValidation || other.needsValidation
        guard !control.needsValidation else { return control }
        if isPublic, sharedMaxAge != nil || other.sharedMaxAge != nil {
            control.sharedMaxAge = min(sharedMaxAge ?? own, other.sharedMaxAge ?? others)
        }
        control.mustRevalidate = mustRevalidate || other.mustRevalidate
        control.proxyRevalidate = isPublic && (proxyRevalidate || other.proxyRevalidate)
        control.isImmutable = isImmutable && other.isImmutable
        control.staleWhileRevalidate = Self.least(staleWhileRevalidate, other.staleWhileRevalidate)
        control.staleIfError = Self.least(staleIfError, other.staleIfError)
        return control
    }

    private static func least(_ one: Duration?, _ other: Duration?) -> Duration? {
        one.flatMap { one in other.map { min(one, $0) } }
    }
}
