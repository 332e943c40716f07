extension CacheJudgement {
    /// One sentence for people.
    public var reason: String {
        switch ground {
        case .miss: "Nothing is stored of this source."
        case .vary: "What is stored answers requests with other fields: its Vary says so."
        case .gone: "The source is known, but its bytes are in no cache any more."
        case .fresh: "It is fresh by \(Self.words(for: basis))."
        case .stale: "It is stale by \(Self.words(for: basis))."
        case .purged: "A purge has marked it as stale."
        case .mustValidate: "The origin wants to be asked each time: no-cache, or Vary with *."
        case .mustRevalidate: "It is stale, and the origin forbids to use it so."
        case .staleWhileRevalidate: "It is stale, but may be used while the origin is asked behind the answer."
        case .staleIfError: "It is stale, but may be used while the origin fails."
        case .mode: "The cache mode of the request says so."
        case .request: "It is fresh, but the Cache-Control of the request does not take it."
        case .freshOnly: "It is stale, and the Cache-Control of the request takes nothing stale."
        case .maxStale: "It is stale, and the Cache-Control of the request takes it all the same."
        case .onlyIfCached: "Only a stored answer is wanted, and there is none that may be used."
        }
    }

    /// Where that is written; nil where it is the operator's or the Fetch standard's affair.
    public var section: String? {
        switch ground {
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

    private static func words(for basis: Freshness.Basis?) -> String {
        switch basis {
        case .cdnMaxAge: "the origin's CDN-Cache-Control"
        case .sharedMaxAge: "the origin's s-maxage"
        case .maxAge: "the origin's max-age"
        case .expires: "the origin's Expires"
        case .heuristic: "a tenth of the time since its Last-Modified"
        case .standard, nil: "this server's own measure, since the origin says nothing"
        case .fixed: "this server's own measure, since origins are not listened to"
        case .invalid: "what the origin says, which cannot be read"
        case .noCache, .noStore, .isPrivate: "the origin's Cache-Control"
        }
    }
}
