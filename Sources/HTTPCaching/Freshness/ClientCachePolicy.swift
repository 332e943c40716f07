/// The `Cache-Control` that clients receive for an image from a stored response. An image is never fresher than its
/// original.
///
/// Calculated once and stored with the response.
public struct ClientCachePolicy: Hashable, Sendable {
    /// The directives with their whole lifetimes, before any limit applies.
    private var base: CacheControl

    /// Derives the policy from the origin's `Cache-Control` and `Expires`, which apply to any cache, unlike
    /// `CDN-Cache-Control`. Without them it is the heuristic or default lifetime, but no more than the lifetime used
    /// here. If `CDN-Cache-Control` forbids shared caches to store, the response is private.
    public init(_ stored: StoredResponse, policy: FreshnessPolicy) {
        let origin = OriginCachePolicy(stored.fields)
        self.init(stored, origin, lifetime: stored.freshness(policy, origin).lifetime, policy: policy)
    }

    /// - Parameters:
    ///   - origin: the policy that the fields of the response state.
    ///   - lifetime: how long the response lives under the policy, which takes long to calculate.
    package init(
        _ stored: StoredResponse, _ origin: OriginCachePolicy, lifetime: Duration, policy: FreshnessPolicy
    ) {
        base = CacheControl(.public(maxAge: lifetime))
        guard policy.respectsOrigin else { return }
        let (directives, shared) = (origin.untargetedDirectives, origin.directives)
        guard !directives.noStore else {
            base = .noStore
            return
        }
        let maxAge =
            (directives.maxAge?.duration ?? stored.expiresLifetime?.duration).map(policy.clamped)
            ?? min(
                stored.heuristicLifetime.map { policy.clamped($0.duration) } ?? policy.defaultFresh, lifetime)
        let isPrivate = directives.isPrivate || shared.isPrivate || shared.forbidStoring
        base.storage = isPrivate ? .private(maxAge: maxAge) : .public(maxAge: maxAge)
        base.needsValidation = directives.noCache || stored.variesByAnything
        guard !base.needsValidation else { return }
        if !isPrivate { base.sharedMaxAge = directives.sharedMaxAge.map { policy.clamped($0.duration) } }
        base.mustRevalidate = directives.mustRevalidate
        base.proxyRevalidate = directives.proxyRevalidate
        base.isImmutable = directives.isImmutable
        base.staleWhileRevalidate = directives.staleWhileRevalidate?.duration
        base.staleIfError = directives.staleIfError?.duration
    }

    /// The field to send together with `Age: <age>`. Clients subtract that age, so lifetimes count from when the origin
    /// generated the original.
    ///
    /// - Parameters:
    ///   - age: the current age of the original.
    ///   - sentAge: the age to send; nil = the age of the original. With zero, lifetimes count from now, also in caches
    ///     that ignore `Age`.
    ///   - asked: how long from now the client wants the image to stay fresh. It shortens the lifetime.
    ///   - cap: the longest lifetime from now that any client is granted.
    public func cacheControl(
        age: Duration, sentAge: Duration? = nil, asked: Duration?, cap: Duration
    ) -> CacheControl {
        var control = base.mappingLifetimes { lifetime in
            (sentAge ?? age) + min(lifetime - age, asked ?? cap, cap)
        }
        if case .public(let maxAge) = control.storage, control.sharedMaxAge == maxAge { control.sharedMaxAge = nil }
        return control
    }

    /// The policy of a response that depends on two responses: never fresher and never more widely storable than either
    /// of them.
    ///
    /// - Parameter lead: by how much the first response is older than the other. The result's lifetimes count from the
    ///   older response, so it belongs to the age of that response.
    public func combined(with other: ClientCachePolicy, lead: Duration) -> ClientCachePolicy {
        // Whole milliseconds: differences of dates are noisy, and equal policies are encoded once.
        let lead = Duration.milliseconds(Int64((lead / .milliseconds(1)).rounded(.towardZero)))
        var combined = self
        combined.base = base.mappingLifetimes { $0 + max(.zero - lead, .zero) }
            .restricted(by: other.base.mappingLifetimes { $0 + max(lead, .zero) })
        return combined
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

    fileprivate func mappingLifetimes(_ change: (Duration) -> Duration) -> CacheControl {
        var control = self
        control.sharedMaxAge = sharedMaxAge.map(change)
        switch storage {
        case .public(let maxAge): control.storage = .public(maxAge: change(maxAge))
        case .private(let maxAge): control.storage = .private(maxAge: change(maxAge))
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
