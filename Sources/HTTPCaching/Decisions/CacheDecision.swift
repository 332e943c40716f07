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
        CacheJudgement(stored: stored, isSelected: isSelected, demand: demand, now: now).decision
    }
}
