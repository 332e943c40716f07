public import DarkroomNetwork
public import HTTPTypes

/// Routes `local:` URLs to one fetcher and all others to another.
public struct OriginRouter: OriginFetching {
    private let remote: any OriginFetching
    private let local: any OriginFetching

    /// - Parameters:
    ///   - remote: the fetcher for `http` and `https`, usually a ``GuardedHTTPClient``.
    ///   - local: the fetcher for `local`, usually ``LocalFiles``.
    public init(remote: any OriginFetching, local: any OriginFetching) {
        self.remote = remote
        self.local = local
    }

    /// Fetches with the fetcher of the URL's scheme.
    public func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        try await fetcher(for: request.url).fetch(request)
    }

    public func sentFields(for request: OriginRequest) -> HTTPFields {
        fetcher(for: request.url).sentFields(for: request)
    }

    public func refusal(of source: SourceURL) -> OriginError? { fetcher(for: source).refusal(of: source) }

    public func clearOutages(ofHost host: String?) {
        remote.clearOutages(ofHost: host)
        local.clearOutages(ofHost: host)
    }

    private func fetcher(for url: SourceURL) -> any OriginFetching {
        switch url.scheme {
        case .http, .https: remote
        case .local: local
        }
    }
}
