import AsyncHTTPClient
import HTTPTypes
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
///     fetch ─ deadline ─ follow redirects ─┬─ slot ─ vet ─ for each address ─ exchange (─ one retry)
///                                          └─ next hop
public struct GuardedHTTPClient: OriginFetching {
    private let settings: Settings
    private let sourceGuard: SourceGuard
    private let gate: DownloadGate
    private let exchanges: Exchanges
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
        self.settings = settings
        self.clock = clock
        self.jitter = jitter
        self.logger = logger
        sourceGuard = SourceGuard(hosts: settings.hosts, addresses: settings.addresses, resolver: resolver)
        gate = DownloadGate(downloadsPerHost: settings.downloadsPerHost, maxDownloads: settings.maxDownloads)
        exchanges = Exchanges(settings: settings, eventLoopGroup: eventLoopGroup)
    }

    /// Ends all transfers and connections; later fetches fail as cancelled.
    public func shutdown() async {
        await exchanges.shutdown()
    }

    /// Downloads an `http` or `https` original. Throws any ``OriginError`` but those about local files.
    public func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        guard request.url.scheme != .local else { throw .invalidURL(.unsupportedScheme("local")) }
        return try await within(settings.downloadTimeout, clock: clock) { () async throws(OriginError) in
            try await follow(request)
        }
    }

    private func follow(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        var hop = request
        var retries = 1
        for _ in 0...max(0, settings.maxRedirects) {
            switch try await ask(hop, retries: &retries) {
            case .content(let response):
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
    private func ask(_ hop: OriginRequest, retries: inout Int) async throws(OriginError) -> Exchanges.Reply {
        let host = hop.url.host?.description ?? ""
        return try await gate.withSlot(host: host, priority: hop.priority) { () async throws(OriginError) in
            let addresses = try await sourceGuard.vet(hop.url)
            var failure = OriginError.unreachable(.connect)
            for address in addresses.prefix(Self.maxAddressesTried) {
                do throws(ExchangeFailure) {
                    return try await exchange(hop, at: address, retries: &retries)
                } catch {
                    // Vetting is over, so only the backstop can have said this: pinning is broken.
                    if error.error == .notAllowed(.address) {
                        logger.critical("a connection led to an unvetted address", metadata: ["host": "\(host)"])
                    }
                    guard error.recovery == .nextAddress else { throw error.error }
                    failure = error.error
                }
            }
            throw failure
        }
    }

    private func exchange(_ hop: OriginRequest, at address: IPAddress, retries: inout Int)
        async throws(ExchangeFailure) -> Exchanges.Reply
    {
        do throws(ExchangeFailure) {
            return try await exchanges.run(hop, at: address)
        } catch {
            guard error.recovery == .retry, retries > 0 else { throw error }
        }
        retries -= 1
        logger.debug("retrying after a reset", metadata: ["url": "\(hop.url)"])
        do { try await clock.sleep(for: jitter()) } catch { throw ExchangeFailure(.cancelled) }
        return try await exchanges.run(hop, at: address)
    }
}
