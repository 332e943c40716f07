public import Foundation
package import HTTPTypes

/// How long a stored response may be used: the result of parsing its caching fields once.
public struct Freshness: Hashable, Sendable {
    /// The freshness lifetime, counted from when the origin generated the response (RFC 9111 §4.2.1).
    public var lifetime: Duration
    /// The source of the lifetime.
    public var basis: Basis
    /// Whether the response must be validated before every use, even while the origin fails: `no-cache` and `Vary: *`.
    public var needsValidation: Bool
    /// Whether the response must not be served stale (RFC 9111 §4.2.4), except within windows that its origin states.
    public var forbidsStale: Bool
    /// How long past its lifetime the response may be served while it is revalidated (RFC 5861 §3).
    public var staleWhileRevalidate: Duration
    /// How long past its lifetime the response may be served while the origin fails (RFC 5861 §4).
    public var staleIfError: Duration
    /// The age on arrival: `corrected_initial_age` of RFC 9111 §4.2.3.
    public var initialAge: Duration
    /// When the response arrived.
    public var receivedAt: Date
    /// The time from which a soft purge makes the response stale. Nil without a purge.
    public var staleSince: Date?

    /// The current age (RFC 9111 §4.2.3). Never negative.
    ///
    /// If the clock was set back after the response arrived, the true age is unknown. The jump counts as age in that
    /// case, so that nothing is fresh for more than twice its lifetime.
    public func age(at now: Date) -> Duration {
        let resident = Duration(from: receivedAt, to: now)
        return initialAge + (resident < .zero ? .zero - resident : resident)
    }

    /// The remaining lifetime. Zero or negative if the response is stale.
    public func remaining(at now: Date) -> Duration {
        let rest = lifetime - age(at: now)
        guard let staleSince else { return rest }
        return min(rest, .zero, Duration(from: now, to: staleSince))
    }

    /// Whether the response may be served although the origin was asked and failed (RFC 5861 §4).
    public func allowsStaleOnError(at now: Date) -> Bool {
        guard !needsValidation else { return false }
        let remaining = remaining(at: now)
        return remaining > .zero || .zero - remaining < staleIfError
    }

    /// The source of a lifetime.
    public enum Basis: String, CaseIterable, Hashable, Sendable {
        case cdnMaxAge, sharedMaxAge, maxAge, expires
        /// A tenth of the time since `Last-Modified`.
        case heuristic
        /// The operator's ``FreshnessPolicy/defaultFresh``, since the origin states nothing.
        case `default`
        /// The operator's ``FreshnessPolicy/defaultFresh``, since the origin is ignored.
        case fixed
        /// A success other than 200 and 203, which is fresh only if the origin states so.
        case status
        /// A malformed caching field, which makes the response stale.
        case invalid
        case noCache, noStore, isPrivate

        /// The section that defines the lifetime, or nil for the operator's.
        public var section: String? {
            switch self {
            case .cdnMaxAge: "RFC 9213 §3"
            case .sharedMaxAge: "RFC 9111 §5.2.2.10"
            case .maxAge: "RFC 9111 §5.2.2.1"
            case .expires: "RFC 9111 §5.3"
            case .heuristic, .status: "RFC 9111 §4.2.2"
            case .invalid: "RFC 9111 §4.2.1"
            case .noCache: "RFC 9111 §5.2.2.4"
            case .noStore: "RFC 9111 §5.2.2.5"
            case .isPrivate: "RFC 9111 §5.2.2.7"
            case .default, .fixed: nil
            }
        }
    }
}

extension StoredResponse {
    /// Calculates how long the response may be used under the operator's policy (RFC 9111 §4.2).
    ///
    /// Parses every caching field, so the result is worth storing.
    public func freshness(_ policy: FreshnessPolicy) -> Freshness { freshness(policy, OriginCachePolicy(fields)) }

    /// - Parameter origin: the policy that the fields of this response state.
    package func freshness(_ policy: FreshnessPolicy, _ origin: OriginCachePolicy) -> Freshness {
        guard policy.respectsOrigin else {
            let lifetime = Lifetime(min(policy.defaultFresh, policy.maxFresh), .fixed)
            return freshness(lifetime, initialAge: .zero, CacheDirectives(), policy)
        }
        let lifetime =
            explicitLifetime(origin, policy)
            ?? (isHeuristicallyCacheable ? nil : Lifetime(.zero, .status))
            ?? heuristicLifetime.map { Lifetime(policy.clamped($0.duration), $0.basis) }
            ?? Lifetime(min(policy.defaultFresh, policy.maxFresh), .default)
        var freshness = freshness(lifetime, initialAge: initialAge, origin.directives, policy)
        freshness.needsValidation = origin.directives.noCache || variesByAnything
        return freshness
    }

    /// The rest, on arrival, of the lifetime that the origin states for a response that is not cached heuristically,
    /// such as a 404.
    ///
    /// Zero if the origin forbids storing or reuse, or if a field is malformed. Nil if the origin states no lifetime or
    /// is ignored.
    public func explicitLifetime(_ policy: FreshnessPolicy) -> Duration? {
        guard policy.respectsOrigin, let lifetime = explicitLifetime(OriginCachePolicy(fields), policy) else {
            return nil
        }
        return max(lifetime.duration - initialAge, .zero)
    }

    /// The rest, on arrival, of the lifetime that the origin states to clients and to their caches, for a response like
    /// above: what it states in `Cache-Control` or `Expires`, but no longer than ``explicitLifetime(_:)``.
    package func clientLifetime(_ policy: FreshnessPolicy) -> Duration? {
        let clients = OriginCachePolicy(fields).untargeted
        guard !forbidsStoring(policy), !(policy.respectsOrigin && clients.directives.noStore) else { return .zero }
        guard let lifetime = explicitLifetime(policy), let stated = explicitLifetime(clients, policy) else {
            return explicitLifetime(policy)
        }
        return min(lifetime, max(stated.duration - initialAge, .zero))
    }

    /// Whether the origin sent `no-store`. `must-understand` would lift it for a status whose caching is understood
    /// (RFC 9111 §5.2.2.3), but is ignored here, because no failure needs it.
    public func forbidsStoring(_ policy: FreshnessPolicy) -> Bool {
        policy.respectsOrigin && OriginCachePolicy(fields).directives.noStore
    }

    private func freshness(
        _ lifetime: Lifetime, initialAge: Duration, _ directives: CacheDirectives, _ policy: FreshnessPolicy
    ) -> Freshness {
        let window = { (stated: CacheDirectives.Seconds?, defaultWindow: Duration) in
            directives.explicitlyForbidStale
                ? .zero : stated?.duration ?? (directives.forbidStale ? .zero : defaultWindow)
        }
        return Freshness(
            lifetime: lifetime.duration, basis: lifetime.basis, needsValidation: false,
            forbidsStale: directives.forbidStale,
            staleWhileRevalidate: window(directives.staleWhileRevalidate, policy.staleWhileRevalidate),
            staleIfError: window(directives.staleIfError, policy.staleIfError), initialAge: initialAge,
            receivedAt: receivedAt, staleSince: staleSince)
    }

    /// The origin's prohibitions, then its stated lifetime, in the order of RFC 9111 §4.2.1.
    private func explicitLifetime(_ origin: OriginCachePolicy, _ policy: FreshnessPolicy) -> Lifetime? {
        let directives = origin.directives
        if directives.forbidStoring { return Lifetime(.zero, .noStore) }
        if directives.isPrivate { return Lifetime(.zero, .isPrivate) }
        if directives.noCache { return Lifetime(.zero, .noCache) }
        let stated =
            directives.sharedMaxAge.map { Lifetime($0, origin.isTargeted ? .cdnMaxAge : .sharedMaxAge) }
            ?? directives.maxAge.map { Lifetime($0, origin.isTargeted ? .cdnMaxAge : .maxAge) }
            ?? (origin.isTargeted ? nil : expiresLifetime)
        return stated.map { Lifetime(policy.clamped($0.duration), $0.basis) }
    }

    /// `corrected_initial_age` of RFC 9111 §4.2.3.
    private var initialAge: Duration {
        let apparent = max(Duration(from: date, to: receivedAt), .zero)
        let delay = max(Duration(from: requestedAt, to: receivedAt), .zero)
        return max(apparent, ageValue + delay)
    }

    /// `age_value` of RFC 9111 §4.2.3: the first member of `Age`, or zero if it is malformed (§5.1).
    private var ageValue: Duration {
        Self.members(of: fields[.age])?.first.flatMap { DeltaSeconds.parse($0.utf8) } ?? .zero
    }

    /// `date_value` of RFC 9111 §4.2.3.
    private var date: Date { fields[.date].flatMap(date(parsing:)) ?? receivedAt }

    /// The lifetime of `Expires` (RFC 9111 §5.3). A malformed date and contradictory lines mean that it is over.
    var expiresLifetime: Lifetime? {
        let lines = fields[values: .expires]
        guard let first = lines.first else { return nil }
        guard lines.allSatisfy({ $0 == first }), let expires = date(parsing: first) else {
            return Lifetime(.invalid, .expires)
        }
        return Lifetime(max(Duration(from: date, to: expires), .zero), .expires)
    }

    /// The heuristic lifetime: a tenth of the time since `Last-Modified` (RFC 9111 §4.2.2).
    var heuristicLifetime: Lifetime? {
        guard let modified = fields[.lastModified].flatMap(date(parsing:)) else { return nil }
        let unchanged = max(Duration(from: modified, to: date), .zero)
        return Lifetime(min(unchanged / 10, FreshnessPolicy.maxHeuristicFresh), .heuristic)
    }

    private func date(parsing text: String) -> Date? { HTTPDate(parsing: text, now: receivedAt)?.date }
}

/// The directives of an origin that apply to a shared cache: the directives of `CDN-Cache-Control` if it is valid,
/// otherwise of `Cache-Control` (RFC 9213 §2.2).
package struct OriginCachePolicy {
    let directives: CacheDirectives
    /// The directives of `Cache-Control`, which apply to any cache.
    let untargetedDirectives: CacheDirectives
    /// Whether the directives come from `CDN-Cache-Control`. `Expires` is ignored in that case.
    let isTargeted: Bool

    package init(_ fields: HTTPFields) {
        let untargeted = fields[.cacheControl].map(CacheDirectives.init(parsing:)) ?? CacheDirectives()
        self.init(fields[.cdnCacheControl].flatMap(CacheDirectives.init(targeted:)), untargeted)
    }

    private init(_ targeted: CacheDirectives?, _ untargeted: CacheDirectives) {
        (directives, untargetedDirectives, isTargeted) = (targeted ?? untargeted, untargeted, targeted != nil)
    }

    /// The policy of `Cache-Control`, whatever `CDN-Cache-Control` says.
    var untargeted: OriginCachePolicy { OriginCachePolicy(nil, untargetedDirectives) }
}

/// A freshness lifetime and its source.
struct Lifetime: Hashable {
    var duration: Duration
    var basis: Freshness.Basis

    init(_ duration: Duration, _ basis: Freshness.Basis) {
        self.duration = duration
        self.basis = basis
    }

    /// A malformed number gives a lifetime of zero whose basis is ``Freshness/Basis/invalid``.
    init(_ stated: CacheDirectives.Seconds, _ basis: Freshness.Basis) {
        self.init(stated.duration, stated == .invalid ? .invalid : basis)
    }
}
