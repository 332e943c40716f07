import AsyncHTTPClient
public import DarkroomNetwork
public import HTTPTypes
public import Logging
public import NIOCore
import NIOHTTP1

/// Downloads originals over HTTP/1.1 from hosts that nobody vouches for.
///
/// Each hop of a redirect is vetted anew: scheme, host, port, then every address its name has. Connections go to the
/// vetted address only, so a name that resolves differently a moment later gains nothing. Bodies are counted as they
/// arrive, and ``Settings/downloadTimeout`` bounds everything. Cookies, user names in URLs and proxy settings of the
/// environment are not used.
///
/// A host and port that could not be reached five times in a row is given a rest of one second, doubling to a minute,
/// during which asking it fails at once with ``OriginError/hostUnavailable(retryAfter:)``; then one download at a time
/// may try again. Each hop counts for the host that it asks, so no redirect can bring its sender into disrepute.
///
///     fetch ─ deadline ─ follow redirects ─┬─ slot ─ circuit ─ vet ─ for each address ─ exchange (─ one retry)
///                                          └─ next hop
public struct GuardedHTTPClient: OriginFetching {
    private let settings: Settings
    private let sourceGuard: SourceGuard
    private let gate: DownloadLimiter
    private let circuits: CircuitBreakerTable
    private let exchanges: PinnedTransport
    private let bytes: InFlightByteBudget
    private let clock: any Clock<Duration>
    private let jitter: @Sendable () -> Duration
    private let logger: Logger

    /// How many addresses of one name are tried.
    private static let maxAddressesTried = 4

    /// - Parameters:
    ///   - eventLoopGroup: runs all connections; it stays the caller's.
    ///   - clock: measures the deadline and the pause before a retry.
    ///   - jitter: that pause. Default: 50 to 250 ms at random.
    public init(
        settings: Settings = Settings(), resolver: any NameResolver = SystemResolver(),
        eventLoopGroup: any EventLoopGroup, clock: any Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Duration = { .milliseconds(Int.random(in: 50...250)) },
        logger: Logger = Logger(label: "darkroom.origin")
    ) {
        self.init(
            settings: settings, resolver: resolver, eventLoopGroup: eventLoopGroup, clock: clock, jitter: jitter,
            circuits: CircuitBreakerTable(logger: logger), logger: logger)
    }

    init(
        settings: Settings, resolver: any NameResolver, eventLoopGroup: any EventLoopGroup,
        clock: any Clock<Duration>, jitter: @escaping @Sendable () -> Duration, circuits: CircuitBreakerTable, logger: Logger
    ) {
        self.settings = settings
        self.clock = clock
        self.jitter = jitter
        self.circuits = circuits
        self.logger = logger
        sourceGuard = SourceGuard(hosts: settings.hosts, addresses: settings.addresses, resolver: resolver)
        bytes = InFlightByteBudget(budgetBytes: settings.maxInFlightBytes)
        gate = DownloadLimiter(
            downloadsPerHost: settings.downloadsPerHost, maxDownloads: settings.maxDownloads,
            order: settings.downloadOrder, bytes: bytes)
        exchanges = PinnedTransport(settings: settings, bytes: bytes, eventLoopGroup: eventLoopGroup)
        if !settings.insecureTLSHosts.isEmpty {
            logger.warning(
                "TLS certificates of some hosts are not verified",
                metadata: ["hosts": .array(settings.insecureTLSHosts.map { "\($0)" })])
        }
    }

    /// Bytes of downloads under way, and of those that are whole but still worked with.
    package var inFlightBytes: Int { bytes.usedBytes }

    /// Ends all transfers and connections; later fetches fail as cancelled.
    public func shutdown() async {
        await exchanges.shutdown()
    }

    /// Ends the rest that was given to a host, at all its ports, or to all hosts where `host` is nil. Their failures so
    /// far are forgotten.
    ///
    /// - Parameter host: as in ``SourceURL/Host/description``.
    public func clearOutages(ofHost host: String? = nil) {
        circuits.forget(host: host)
    }

    /// Downloads an `http` or `https` original. Throws any ``OriginError`` but those about local files.
    public func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        guard request.url.scheme != .local else { throw .invalidURL(.unsupportedScheme("local")) }
        let progress = DownloadProgress()
        return try await withDeadline(settings.downloadTimeout, clock: clock, onExpiry: progress.expire) {
            () async throws(OriginError) in try await follow(request, progress: progress)
        }
    }

    public func sentFields(for request: OriginRequest) -> HTTPFields {
        RequestHeaders(request, userAgent: settings.userAgent, viaPseudonym: settings.viaPseudonym).selecting
    }

    public func refusal(of source: SourceURL) -> OriginError? { sourceGuard.refusal(of: source) }

    private func follow(_ request: OriginRequest, progress: DownloadProgress) async throws(OriginError)
        -> OriginResponse
    {
        var hop = request
        var retries = 1
        for _ in 0...max(0, settings.maxRedirects) {
            switch try await ask(hop, retries: &retries, progress: progress) {
            case .answer(let response):
                return response
            case .redirect(let location):
                let target = try hop.url.redirectTarget(location)
                if target.origin != hop.url.origin { hop.headers = [:] }
                hop.url = target
            }
        }
        throw .tooManyRedirects(limit: settings.maxRedirects)
    }

    /// One hop: the slot is held for it alone, so that a chain of redirects never holds two.
    private func ask(_ hop: OriginRequest, retries: inout Int, progress: DownloadProgress) async throws(OriginError)
        -> PinnedTransport.Reply
    {
        let peer = CircuitBreakerTable.Peer(hop.url)
        // Nobody stands in line for nothing; who stands there when an outage begins learns of it at the front.
        try circuits.check(peer)
        progress.enter(.waiting)
        return try await gate.withSlot(host: peer.host, client: hop.client, urgency: hop.urgency) {
            () async throws(OriginError) in
            try await circuits.attempt(peer) { () async throws(OriginError) in
                do throws(OriginError) {
                    return try await reach(hop, retries: &retries, progress: progress)
                } catch {
                    // A host that hangs until the deadline must not look like a client that hung up.
                    throw progress.cause(of: error)
                }
            }
        }
    }

    private func reach(_ hop: OriginRequest, retries: inout Int, progress: DownloadProgress) async throws(OriginError)
        -> PinnedTransport.Reply
    {
        progress.enter(.resolving)
        let addresses = try await sourceGuard.vet(hop.url)
        var failure = OriginError.unreachable(.connect)
        for address in addresses.prefix(Self.maxAddressesTried) {
            do throws(ExchangeFailure) {
                return try await exchange(hop, at: address, retries: &retries, progress: progress)
            } catch {
                // Vetting is over, so only the backstop can have said this: pinning is broken.
                if error.error == .notAllowed(.address) {
                    let host = hop.url.host?.description ?? ""
                    logger.critical("a connection led to an unvetted address", metadata: ["host": "\(host)"])
                }
                guard error.recovery == .nextAddress else { throw error.error }
                failure = error.error
            }
        }
        throw failure
    }

    private func exchange(
        _ hop: OriginRequest, at address: IPAddress, retries: inout Int, progress: DownloadProgress
    ) async throws(ExchangeFailure) -> PinnedTransport.Reply {
        do throws(ExchangeFailure) {
            return try await exchanges.run(hop, at: address, phases: progress)
        } catch {
            guard error.recovery == .retry, retries > 0 else { throw error }
        }
        retries -= 1
        logger.debug("retrying after a reset", metadata: ["url": "\(hop.url)"])
        do { try await clock.sleep(for: jitter()) } catch { throw ExchangeFailure(.cancelled) }
        return try await exchanges.run(hop, at: address, phases: progress)
    }
}
