public import Foundation

/// A decision together with what it rests on, to be told to people.
public struct CacheJudgement: Hashable, Sendable {
    public let decision: CacheDecision
    /// What decided.
    public let ground: Ground
    /// Where the lifetime of what is stored is from; nil = nothing is stored.
    public let basis: Freshness.Basis?

    /// - Parameters:
    ///   - stored: of the response that is stored for the address, if any.
    ///   - isSelected: whether that response is one for this request (RFC 9111 §4.1).
    public init(stored: Freshness?, isSelected: Bool, demand: CacheDemand, now: Date) {
        let (decision, ground) = Self.judge(stored, isSelected: isSelected, demand, now: now)
        self.init(Self.withoutOrigin(decision, where: demand.isOnlyIfCached), ground, stored?.basis)
    }

    private init(_ decision: CacheDecision, _ ground: Ground, _ basis: Freshness.Basis?) {
        self.decision = decision
        self.ground = decision == .refuse ? .onlyIfCached : ground
        self.basis = basis
    }

    /// The origin would have to be asked, but is known to fail, and what is stored may stand in.
    public static func staleIfError(_ stored: Freshness) -> CacheJudgement {
        CacheJudgement(.use, .staleIfError, stored.basis)
    }

    /// What is known of the response could be used, but its bytes are nowhere any more.
    public static func gone(_ stored: Freshness, demand: CacheDemand) -> CacheJudgement {
        CacheJudgement(withoutOrigin(.ask(.miss), where: demand.isOnlyIfCached), .gone, stored.basis)
    }

    private static func withoutOrigin(_ decision: CacheDecision, where isOnlyIfCached: Bool) -> CacheDecision {
        guard isOnlyIfCached else { return decision }
        switch decision {
        case .use, .useAndRevalidate: return .use
        case .ask, .refuse: return .refuse
        }
    }
}

extension CacheJudgement {
    /// What decides. The raw value names it for ever.
    public enum Ground: String, CaseIterable, Hashable, Sendable {
        /// Nothing is stored.
        case miss
        /// What is stored answers requests with other fields.
        case vary
        /// The bytes are nowhere any more.
        case gone
        case fresh
        case stale
        /// A soft purge.
        case purged
        /// The origin wants to be asked each time.
        case mustValidate = "must-validate"
        /// The origin forbids to use it stale.
        case mustRevalidate = "must-revalidate"
        case staleWhileRevalidate = "stale-while-revalidate"
        case staleIfError = "stale-if-error"
        /// The request's mode.
        case mode = "cache-mode"
        /// The client's directives turn down what is fresh.
        case request
        /// The client's directives turn down what is stale.
        case freshOnly = "fresh-only"
        /// The client takes what is stale by so much.
        case maxStale = "max-stale"
        /// The origin must not be asked.
        case onlyIfCached = "only-if-cached"
    }

    /// As if the origin could always be asked.
    private static func judge(
        _ stored: Freshness?, isSelected: Bool, _ demand: CacheDemand, now: Date
    ) -> (CacheDecision, Ground) {
        guard let stored else { return (.ask(.miss), .miss) }
        guard isSelected else { return (.ask(.vary), .vary) }
        if demand.mode.asksOrigin, demand.mode != .refresh { return (.ask(.request), .mode) }
        guard !stored.needsValidation else { return (.ask(.stale), .mustValidate) }
        let remaining = stored.remaining(at: now)
        let isRefused = demand.refuses(stored, now: now)
        if remaining > .zero {
            if isRefused { return (.ask(.request), .request) }
            return demand.mode == .refresh ? (.useAndRevalidate, .mode) : (.use, .fresh)
        }
        guard !isRefused, !demand.turnsDownStale else { return (.ask(.stale), .freshOnly) }
        return judge(stale: stored, by: .zero - remaining, demand)
    }

    private static func judge(
        stale stored: Freshness, by staleness: Duration, _ demand: CacheDemand
    ) -> (CacheDecision, Ground) {
        if staleness < stored.staleWhileRevalidate { return (.useAndRevalidate, .staleWhileRevalidate) }
        guard !stored.forbidsStale else { return (.ask(.stale), .mustRevalidate) }
        if demand.mode == .refresh { return (.useAndRevalidate, .mode) }
        guard demand.takesStale(by: staleness) else {
            return (.ask(.stale), stored.staleSince == nil ? .stale : .purged)
        }
        return (.use, demand.mode == .standard ? .maxStale : .mode)
    }
}
