import Foundation
import HTTPTypes

extension StoredResponse {
    /// How long it may be used under the operator's policy. Worth keeping: it parses every field that has a say.
    public func freshness(_ policy: FreshnessPolicy) -> Freshness {
        guard policy.respectsOrigin else {
            return freshness(
                Lifetime(min(policy.defaultFresh, policy.maxFresh), .fixed), initialAge: .zero, CacheDirectives(),
                policy)
        }
        let terms = OriginTerms(fields)
        let lifetime =
            explicit(terms, policy) ?? heuristic.map { Lifetime(policy.bounded($0.duration), $0.basis) }
            ?? Lifetime(min(policy.defaultFresh, policy.maxFresh), .standard)
        var freshness = freshness(lifetime, initialAge: initialAge, terms.directives, policy)
        freshness.needsValidation = terms.directives.noCache || variesByAnything
        return freshness
    }

    /// What the origin itself grants a response that nobody would keep on a guess, such as a 404: what is left, on its
    /// arrival, of the lifetime that it states. Zero where it forbids storing, reuse, or cannot be read; nil where it
    /// says nothing or is not listened to.
    public func explicitLifetime(_ policy: FreshnessPolicy) -> Duration? {
        guard policy.respectsOrigin, let lifetime = explicit(OriginTerms(fields), policy) else { return nil }
        return max(lifetime.duration - initialAge, .zero)
    }

    private func freshness(
        _ lifetime: Lifetime, initialAge: Duration, _ directives: CacheDirectives, _ policy: FreshnessPolicy
    ) -> Freshness {
        let window = { (stated: CacheDirectives.Stated?, standard: Duration) in
            directives.forbidStaleOutright
                ? .zero : stated?.duration ?? (directives.forbidStale ? .zero : standard)
        }
        return Freshness(
            lifetime: lifetime.duration, basis: lifetime.basis, needsValidation: false,
            forbidsStale: directives.forbidStale,
            staleWhileRevalidate: window(directives.staleWhileRevalidate, policy.staleWhileRevalidate),
            staleIfError: window(directives.staleIfError, policy.staleIfError), initialAge: initialAge,
            receivedAt: receivedAt, staleSince: staleSince)
    }

    /// What the origin states, in the order of RFC 9111 §4.2.1, after what it forbids.
    private func explicit(_ terms: OriginTerms, _ policy: FreshnessPolicy) -> Lifetime? {
        let directives = terms.directives
        if directives.forbidStoring { return Lifetime(.zero, .noStore) }
        if directives.isPrivate { return Lifetime(.zero, .isPrivate) }
        if directives.noCache { return Lifetime(.zero, .noCache) }
        let stated =
            directives.sharedMaxAge.map { Lifetime($0, terms.isTargeted ? .cdnMaxAge : .sharedMaxAge) }
            ?? directives.maxAge.map { Lifetime($0, terms.isTargeted ? .cdnMaxAge : .maxAge) }
            ?? (terms.isTargeted ? nil : expiry)
        return stated.map { Lifetime(policy.bounded($0.duration), $0.basis) }
    }

    /// `corrected_initial_age` of RFC 9111 §4.2.3.
    private var initialAge: Duration {
        let apparent = max(Duration(from: date, to: receivedAt), .zero)
        let delay = max(Duration(from: requestedAt, to: receivedAt), .zero)
        return max(apparent, statedAge + delay)
    }

    /// The first member of `Age`; zero where that is no number (RFC 9111 §5.1).
    private var statedAge: Duration {
        Self.members(of: fields[.age])?.first.flatMap { DeltaSeconds.parse($0.utf8) } ?? .zero
    }
}
