public import DarkroomNetwork
public import HTTPTypes

/// Routes each URL to the fetcher of its scheme.
public struct OriginRouter: OriginFetching {
    private let remote: any OriginFetching
    private let local: any OriginFetching
    private let objects: any OriginFetching
    private let forbiddenIsMissing: [String]

    /// - Parameters:
    ///   - remote: the fetcher for `http` and `https`, usually a ``GuardedHTTPClient``.
    ///   - local: the fetcher for `local`, usually ``LocalFiles``.
    ///   - objects: the fetcher for `s3`. Default: refuses all objects.
    ///   - forbiddenIsMissing: patterns, as in ``HostPolicy/allowHosts``, of hosts whose 403 means that the original
    ///     does not exist; patterns of buckets begin with `s3://`. Default: none.
    public init(
        remote: any OriginFetching, local: any OriginFetching, objects: (any OriginFetching)? = nil,
        forbiddenIsMissing: [String] = []
    ) {
        self.remote = remote
        self.local = local
        self.objects = objects ?? NoObjects()
        self.forbiddenIsMissing = forbiddenIsMissing
    }

    /// Fetches with the fetcher of the URL's scheme.
    public func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        do throws(OriginError) {
            return try await fetcher(for: request.url).fetch(request)
        } catch {
            // An empty list would permit all hosts.
            guard case .unexpectedStatus(let response) = error, response.status == 403, !forbiddenIsMissing.isEmpty,
                request.url.staysWithin(hosts: forbiddenIsMissing)
            else { throw error }
            throw .notFound(response)
        }
    }

    public func sentFields(for request: OriginRequest) -> HTTPFields {
        fetcher(for: request.url).sentFields(for: request)
    }

    public func refusal(of source: SourceURL) -> OriginError? { fetcher(for: source).refusal(of: source) }

    public func clearOutages(ofHost host: String?) {
        for fetcher in [remote, local, objects] { fetcher.clearOutages(ofHost: host) }
    }

    public func startWaiting() {
        for fetcher in [remote, local, objects] { fetcher.startWaiting() }
    }

    private func fetcher(for url: SourceURL) -> any OriginFetching {
        switch url.scheme {
        case .http, .https: remote
        case .s3: objects
        case .local, .upload: local
        case .color: ColorSources()
        }
    }
}

private struct NoObjects: OriginFetching {
    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse { throw .notAllowed(.object) }
    func refusal(of source: SourceURL) -> OriginError? { .notAllowed(.object) }
}
