public import Foundation

/// A cache's decision about a request (RFC 9111 §4).
public enum CacheDecision: Hashable, Sendable {
    /// Serves the stored response: it is fresh, or the client accepts it stale.
    case use
    /// Serves the stored response and revalidates it in the background, once for any number of requests.
    case useAndRevalidate
    /// Contacts the origin first: conditionally if a stored response can be validated and the mode does not ignore it.
    case ask(AskReason)
    /// Answers 504: the client forbids contacting the origin, and no stored response is acceptable.
    case refuse

    /// Why the origin is contacted.
    public enum AskReason: Hashable, Sendable {
        /// Nothing is stored.
        case miss
        /// The stored response is stale, or requires validation before use.
        case stale
        /// The client requires it.
        case request
        /// The stored response answers requests with other fields.
        case vary

        /// The value of the `fwd` parameter of `Cache-Status` (RFC 9211 §2.2).
        public var status: CacheStatus.Reason {
            switch self {
            case .miss: .miss
            case .stale: .stale
            case .request: .request
            case .vary: .varyMiss
            }
        }
    }

    /// The decision of ``CacheEvaluation/init(stored:isSelected:policy:now:)``.
    public static func decide(
        stored: Freshness?, isSelected: Bool, policy: RequestCachePolicy, now: Date
    ) -> CacheDecision {
        CacheEvaluation(stored: stored, isSelected: isSelected, policy: policy, now: now).decision
    }
}
