public import DarkroomNetwork
public import HTTPTypes

/// Fetches originals.
public protocol OriginFetching: Sendable {
    /// Fetches a complete original. Canceling the task ends the transfer. Fetchers that receive originals in parts
    /// report each part to ``OriginRequest/onProgress``.
    ///
    /// - Returns: an original, or "not modified" if the request's validators were sent and match.
    /// - Throws: ``OriginError``. Nothing is cached, so another call starts a new request.
    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse

    /// The ``OriginResponse/sentFields`` of a response to this request without redirects. Default: the request's
    /// fields.
    func sentFields(for request: OriginRequest) -> HTTPFields

    /// Why a source is refused before any request, as far as it is known without a DNS lookup, or nil if it is not.
    /// Default: nil.
    func refusal(of source: SourceURL) -> OriginError?

    /// Removes the recorded outages of a host, or of all hosts if nil, so that requests are sent again. Default: no
    /// effect.
    func clearOutages(ofHost host: String?)

    /// Starts the waiting requests that may start now, because clients have joined them; see ``OriginRequest/clients``.
    /// Called on any thread; must return at once. Default: no effect.
    func startWaiting()
}

extension OriginFetching {
    public func sentFields(for request: OriginRequest) -> HTTPFields { request.headers }
    public func refusal(of source: SourceURL) -> OriginError? { nil }
    public func clearOutages(ofHost host: String?) {}
    public func startWaiting() {}
}
