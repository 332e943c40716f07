public import Foundation

/// A cache's decision about a request together with the reason for it.
///
/// A pure function of the stored response, the request's cache policy and the time (RFC 9111 §4).
public struct CacheEvaluation: Hashable, Sendable {
    /// The cache's decision about the request.
    public let decision: CacheDecision
    /// The rule that decided.
    public let reason: Reason
    /// The source of the stored response's lifetime, or nil if nothing is stored.
    public let basis: Freshness.Basis?

    /// Evaluates a request against the stored response.
    ///
    /// - Parameter isSelected: whether the stored response may answer this request's fields (RFC 9111 §4.1).
    public init(stored: Freshness?, isSelected: Bool, policy: RequestCachePolicy, now: Date) {
        let (decision, reason) = Self.evaluate(stored, isSelected: isSelected, policy, now: now)
        self.init(Self.restricted(decision, toStored: policy.isOnlyIfCached), reason, stored?.basis)
    }

    private init(_ decision: CacheDecision, _ reason: Reason, _ basis: Freshness.Basis?) {
        self.decision = decision
        self.reason = decision == .refuse ? .onlyIfCached : reason
        self.basis = basis
    }

    /// The evaluation of a response that replaces an answer from an origin known to fail (RFC 5861 §4).
    public static func staleIfError(_ stored: Freshness) -> CacheEvaluation {
        CacheEvaluation(.use, .staleIfError, stored.basis)
    }

    /// The evaluation of a usable response whose body is no longer in any cache.
    public static func gone(_ stored: Freshness, policy: RequestCachePolicy) -> CacheEvaluation {
        CacheEvaluation(restricted(.ask(.miss), toStored: policy.isOnlyIfCached), .gone, stored.basis)
    }

    /// Replaces a decision that contacts the origin by a decision that does not, if `onlyIfCached` is set.
    private static func restricted(_ decision: CacheDecision, toStored onlyIfCached: Bool) -> CacheDecision {
        guard onlyIfCached else { return decision }
        switch decision {
        case .use, .useAndRevalidate: return .use
        case .ask, .refuse: return .refuse
        }
    }

    /// The decision for a request that may contact the origin.
    private static func evaluate(
        _ stored: Freshness?, isSelected: Bool, _ policy: RequestCachePolicy, now: Date
    ) -> (CacheDecision, Reason) {
        guard let stored else { return (.ask(.miss), .miss) }
        guard isSelected else { return (.ask(.varyMiss), .vary) }
        if policy.mode.forcesOriginRequest, policy.mode != .refresh { return (.ask(.request), .mode) }
        guard !stored.needsValidation else { return (.ask(.stale), .mustValidate) }
        let remaining = stored.remaining(at: now)
        let isRejected = policy.rejects(stored, now: now)
        if remaining > .zero {
            if isRejected { return (.ask(.request), .request) }
            return policy.mode == .refresh ? (.useAndRevalidate, .mode) : (.use, .fresh)
        }
        guard !isRejected, !policy.rejectsStale else { return (.ask(.stale), .freshOnly) }
        return evaluate(stale: stored, by: .zero - remaining, policy)
    }

    private static func evaluate(
        stale stored: Freshness, by staleness: Duration, _ policy: RequestCachePolicy
    ) -> (CacheDecision, Reason) {
        if staleness < stored.staleWhileRevalidate { return (.useAndRevalidate, .staleWhileRevalidate) }
        guard !stored.forbidsStale else { return (.ask(.stale), .mustRevalidate) }
        if policy.mode == .refresh { return (.useAndRevalidate, .mode) }
        guard policy.acceptsStale(by: staleness) else {
            return (.ask(.stale), stored.staleSince == nil ? .stale : .purged)
        }
        return (.use, policy.mode == .default ? .maxStale : .mode)
    }

    /// The rule that decided; ``explanation`` describes each. Raw values are stable identifiers.
    public enum Reason: String, CaseIterable, Hashable, Sendable {
        case miss, vary, gone, fresh, stale, purged
        case mustValidate = "must-validate"
        case mustRevalidate = "must-revalidate"
        case staleWhileRevalidate = "stale-while-revalidate"
        case staleIfError = "stale-if-error"
        case mode = "cache-mode"
        case request
        case freshOnly = "fresh-only"
        case maxStale = "max-stale"
        case onlyIfCached = "only-if-cached"
    }

    /// The reason as one sentence for people.
    public var explanation: String {
        switch reason {
        case .miss: "Nothing is stored for this source."
        case .vary: "The stored response's Vary field selects it for requests with other fields."
        case .gone: "The source is known, but its bytes are no longer in any cache."
        case .fresh: "The stored response is fresh according to \(basisText)."
        case .stale: "The stored response is stale according to \(basisText)."
        case .purged: "A soft purge marked the stored response as stale."
        case .mustValidate: "The origin requires validation on every use: no-cache, or Vary with *."
        case .mustRevalidate: "The stored response is stale, and the origin forbids serving it stale."
        case .staleWhileRevalidate: "The stored response is stale, but may be served while it is revalidated."
        case .staleIfError: "The stored response is stale, but may be served while the origin fails."
        case .mode: "The request's cache mode decides."
        case .request: "The stored response is fresh, but the request's Cache-Control rejects it."
        case .freshOnly: "The stored response is stale, and the request's Cache-Control rejects stale responses."
        case .maxStale: "The stored response is stale, but the request's max-stale accepts it."
        case .onlyIfCached: "The request accepts only a stored response, and there is none that may be used."
        }
    }

    /// The section that defines the rule, or nil for rules that come from the operator or the Fetch standard.
    public var section: String? {
        switch reason {
        case .miss: "RFC 9111 §4"
        case .vary: "RFC 9111 §4.1"
        case .fresh: basis?.section
        case .stale, .mustRevalidate: "RFC 9111 §4.2.4"
        case .mustValidate: basis == .noCache ? "RFC 9111 §5.2.2.4" : "RFC 9111 §4.1"
        case .staleWhileRevalidate: "RFC 5861 §3"
        case .staleIfError: "RFC 5861 §4"
        case .request, .freshOnly: "RFC 9111 §5.2.1"
        case .maxStale: "RFC 9111 §5.2.1.2"
        case .onlyIfCached: "RFC 9111 §5.2.1.7"
        case .gone, .purged, .mode: nil
        }
    }

    private var basisText: String {
        switch basis {
        case .cdnMaxAge: "the origin's CDN-Cache-Control"
        case .sharedMaxAge: "the origin's s-maxage"
        case .maxAge: "the origin's max-age"
        case .expires: "the origin's Expires"
        case .heuristic: "a tenth of the time since its Last-Modified"
        case .default, nil: "this server's default lifetime, since the origin states none"
        case .fixed: "this server's default lifetime, since origin caching fields are ignored"
        case .status: "the origin's status, which has no lifetime unless one is stated"
        case .invalid: "an origin caching field that is malformed"
        case .noCache, .noStore, .isPrivate: "the origin's Cache-Control"
        }
    }
}

/// A cache's decision about a request (RFC 9111 §4).
public enum CacheDecision: Hashable, Sendable {
    /// Serves the stored response: it is fresh, or the client accepts it stale.
    case use
    /// Serves the stored response and revalidates it in the background, once for any number of requests.
    case useAndRevalidate
    /// Contacts the origin first: conditionally if a stored response can be validated and the mode does not ignore it.
    case ask(CacheStatus.Reason)
    /// Answers 504: the client forbids contacting the origin, and no stored response is acceptable.
    case refuse
}
