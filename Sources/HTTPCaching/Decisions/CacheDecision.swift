public import Foundation

/// What a cache does about a request (RFC 9111 §4).
public enum CacheDecision: Hashable, Sendable {
    /// Answer with what is stored: it is fresh, or the client takes it stale.
    case use
    /// Answer with what is stored, and revalidate it behind that, once for however many.
    case useAndRevalidate
    /// Ask the origin first: conditionally where there is something to validate and the mode does not ignore it.
    case ask(AskReason)
    /// Answer 504: the client forbids to ask, and there is nothing that it takes.
    case refuse

    /// Why the origin has to be asked.
    public enum AskReason: Hashable, Sendable {
        /// Nothing is stored.
        case miss
        /// What is stored is stale, or may not be used without asking.
        case stale
        /// The client wants it so.
        case request
        /// What is stored answers requests with other fields.
        case vary

        /// As `Cache-Status` says it (RFC 9211 §2.2).
        public var status: CacheStatus.Reason {
            switch self {
            case .miss: .miss
            case .stale: .stale
            case .request: .request
            case .vary: .varyMiss
            }
        }
    }

    /// - Parameters:
    ///   - stored: of the response that is stored for the address, if any.
    ///   - isSelected: whether that response is one for this request (RFC 9111 §4.1).
    public static func decide(
        stored: Freshness?, isSelected: Bool, demand: CacheDemand, now: Date
    ) -> CacheDecision {
        guard let stored else { return demand.isOnlyIfCached ? .refuse : .ask(.miss) }
        guard isSelected else { return demand.isOnlyIfCached ? .refuse : .ask(.vary) }
        let decision = decide(stored, demand, now: now)
        guard demand.isOnlyIfCached else { return decision }
        switch decision {
        case .use, .useAndRevalidate: return .use
        case .ask, .refuse: return .refuse
        }
    }

    /// As if the origin could always be asked.
    private static func decide(_ stored: Freshness, _ demand: CacheDemand, now: Date) -> CacheDecision {
        if demand.mode.asksOrigin, demand.mode != .refresh { return .ask(.request) }
        guard !stored.needsValidation else { return .ask(.stale) }
        let remaining = stored.remaining(at: now)
        let isRefused = demand.refuses(stored, now: now)
        if remaining > .zero {
            if isRefused { return .ask(.request) }
            return demand.mode == .refresh ? .useAndRevalidate : .use
        }
        guard !isRefused, !demand.turnsDownStale else { return .ask(.stale) }
        let staleness = .zero - remaining
        if staleness < stored.staleWhileRevalidate { return .useAndRevalidate }
        guard !stored.forbidsStale else { return .ask(.stale) }
        if demand.mode == .refresh { return .useAndRevalidate }
        return demand.takesStale(by: staleness) ? .use : .ask(.stale)
    }
}
