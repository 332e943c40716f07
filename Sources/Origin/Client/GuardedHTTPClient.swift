import AsyncHTTPClient
public import DarkroomNetwork
import DarkroomWaiting
public import HTTPTypes
public import Logging
public import NIOCore
import NIOHTTP1
import Synchronization

/// Downloads originals over HTTP/1.1 from untrusted hosts.
///
/// Every hop of a redirect is vetted: scheme, host, port, then every address of the name. Connections go to a vetted
/// address only, so DNS rebinding has no effect. Bodies are counted as they arrive, and ``Settings/downloadTimeout``
/// limits the whole download. Cookies of redirects last for one download. Credentials in URLs and proxy settings of the
/// environment are not used.
///
/// After five failures in a row, the circuit breaker of a host and port opens for one second, doubling up to a minute.
/// Requests fail at once with ``OriginError/hostUnavailable(retryAfter:)`` during that time; then one download at a
/// time may try again. Each hop counts for the host that it contacts, not for the host that redirected to it.
///
///     fetch ─ deadline ─ follow redirects ─┬─ slot ─ circuit ─ vet ─ for each address ─ request (─ one retry)
///                                          └─ next hop
public final class GuardedHTTPClient: OriginFetching {
    private let settings: Settings
    /// Each hop is vetted by exactly one guard, also while the guard is replaced.
    private let sourceGuard: Mutex<SourceGuard>
    /// Shared with the fetchers of other protocols.
    let limits: DownloadLimits
    private let transport: PinnedTransport
    private let clock: any Clock<Duration>
    private let jitter: @Sendable () -> Duration
    private let logger: Logger

    /// The number of addresses of one name that are tried.
    private static let maxAddressesTried = 4

    /// - Parameters:
    ///   - eventLoopGroup: runs all connections. Not shut down by the client.
    ///   - clock: measures the deadline and the pause before a retry.
    ///   - jitter: returns that pause. Default: random, 50 to 250 ms.
    public convenience init(
        settings: Settings = Settings(), nameLookup: any NameLookup = SystemNameLookup(),
        eventLoopGroup: any EventLoopGroup, clock: any Clock<Duration> = ContinuousClock(),
        jitter: @escaping @Sendable () -> Duration = { .milliseconds(Int.random(in: 50...250)) },
        logger: Logger = Logger(label: "darkroom.origin")
    ) {
        self.init(
            settings: settings, nameLookup: nameLookup, eventLoopGroup: eventLoopGroup, clock: clock, jitter: jitter,
            circuits: CircuitBreakerTable(logger: logger), logger: logger)
    }

    init(
        settings: Settings, nameLookup: any NameLookup, eventLoopGroup: any EventLoopGroup,
        clock: any Clock<Duration>, jitter: @escaping @Sendable () -> Duration, circuits: CircuitBreakerTable,
        logger: Logger
    ) {
        self.settings = settings
        self.clock = clock
        self.jitter = jitter
        self.logger = logger
        sourceGuard = Mutex(
            SourceGuard(
                hosts: settings.hosts, addresses: settings.addresses, nameLookup: nameLookup,
                mapped: settings.mappedSources, fields: settings.fields, logger: logger))
        limits = DownloadLimits(settings, circuits: circuits, clock: clock)
        transport = PinnedTransport(settings: settings, budget: limits.budget, eventLoopGroup: eventLoopGroup)
        if !settings.insecureTLSHosts.isEmpty {
            logger.warning(
                "TLS certificates of some origin hosts are not verified",
                metadata: ["hosts": .array(settings.insecureTLSHosts.map { "\($0)" })])
        }
    }

    /// The bytes of running downloads, and of finished downloads whose bytes are still in use.
    package var inFlightBytes: Int { limits.budget.usedBytes }

    /// Ends all transfers and connections. Later fetches fail with ``OriginError/cancelled``.
    public func shutdown() async {
        await transport.shutdown()
    }

    /// Closes the circuit breakers of a host, at all its ports, or of all hosts, and removes their recorded failures.
    ///
    /// - Parameter host: a ``SourceURL/Host/description``, or nil for all hosts.
    public func clearOutages(ofHost host: String? = nil) {
        limits.circuits.clear(host: host)
    }

    public func startWaiting() { limits.startWaiting() }

    /// Downloads an `http` or `https` original. Throws any ``OriginError`` that is not about local files.
    public func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        guard request.url.scheme.isWeb else { throw .invalidURL(.unsupportedScheme(request.url.scheme.rawValue)) }
        return try await limits.withDeadline { progress throws(OriginError) in
            try await follow(request, progress: progress)
        }
    }

    public func sentFields(for request: OriginRequest) -> HTTPFields {
        var request = request
        if let host = request.url.host { request.operatorFields = sourceGuard.withLock(\.fields).fields(for: host) }
        return RequestHeaders(request, userAgent: settings.userAgent, viaPseudonym: settings.viaPseudonym).selecting
    }

    public func refusal(of source: SourceURL) -> OriginError? {
        // Each hit asks, so nothing is copied.
        guard let refusal = sourceGuard.withLock({ $0.refusal(of: source) }) else { return nil }
        sourceGuard.withLock(\.self).logRefusal(of: source)
        return refusal
    }

    /// What the operator would have to allow so that a source may be requested, as far as that is known without a
    /// lookup; nil if nothing is missing. Sources behind a short name are secrets of the operator.
    package func missingPermission(for source: SourceURL) -> SourcePermission? {
        let vetting = sourceGuard.withLock(\.self)
        return vetting.mapped.contains(source) ? nil : vetting.missingPermission(for: source)
    }

    /// Vets later hops by the hosts, addresses and mapped sources of other settings.
    package func vet(by settings: Settings) {
        sourceGuard.withLock {
            $0.hosts = settings.hosts
            $0.addresses = settings.addresses
            $0.mapped = settings.mappedSources
            $0.fields = settings.fields
        }
    }

    private func follow(_ request: OriginRequest, progress: DownloadProgress) async throws(OriginError)
        -> OriginResponse
    {
        var hop = request
        var cookies = RedirectCookies()
        var isDowngraded = false
        var retries = 1
        for _ in 0...max(0, settings.maxRedirects) {
            let fields = isDowngraded ? nil : hop.url.host.map(sourceGuard.withLock(\.fields).fields)
            hop.operatorFields = fields ?? [:]
            hop.cookies = cookies.value(for: hop.url.origin)
            switch try await ask(hop, retries: &retries, progress: progress) {
            case .answer(let response):
                return response
            case .redirect(let location, let setCookies):
                cookies.store(setCookies, from: hop.url.origin)
                let target = try hop.url.redirectTarget(location)
                if target.origin != hop.url.origin { hop.headers = [:] }
                if hop.url.scheme == .https, target.scheme == .http { isDowngraded = true }
                hop.url = target
            }
        }
        throw .tooManyRedirects(limit: settings.maxRedirects)
    }

    /// Requests one hop. Each hop releases its slot before the next hop, so that a chain of redirects never holds two
    /// slots.
    private func ask(_ hop: OriginRequest, retries: inout Int, progress: DownloadProgress) async throws(OriginError)
        -> PinnedTransport.Reply
    {
        let peer = CircuitBreakerTable.Peer(hop.url)
        return try await limits.withSlot(of: peer, host: peer.host, for: hop, progress: progress) {
            () async throws(OriginError) in
            try await reach(hop, retries: &retries, progress: progress)
        }
    }

    private func reach(_ hop: OriginRequest, retries: inout Int, progress: DownloadProgress) async throws(OriginError)
        -> PinnedTransport.Reply
    {
        progress.enter(.lookup)
        let vetting = sourceGuard.withLock(\.self)
        let addresses = try await vetting.vet(hop.url, for: hop.client, deadline: progress.deadline)
        var failure = OriginError.unreachable(.connect)
        for address in addresses.prefix(Self.maxAddressesTried) {
            do throws(ExchangeFailure) {
                return try await exchange(hop, at: address, retries: &retries, progress: progress)
            } catch {
                // Vetting has passed, so this comes from a backstop: the connection or the request is another one.
                if error.error == .notAllowed(.address) {
                    let host = hop.url.host?.description ?? ""
                    logger.critical("stopped an unvetted connection or request", metadata: ["host": "\(host)"])
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
            return try await transport.run(hop, at: address, phases: progress)
        } catch {
            guard error.recovery == .retry, retries > 0 else { throw error }
        }
        retries -= 1
        logger.debug("retrying after a reset or 408", metadata: ["url": "\(hop.url)"])
        let pause = jitter()
        do {
            try await progress.deadline.run { [clock] in try await clock.sleep(for: pause) }
        } catch {
            throw ExchangeFailure(.cancelled)
        }
        return try await transport.run(hop, at: address, phases: progress)
    }
}

extension SourceURL {
    func redirectTarget(_ location: String?) throws(OriginError) -> SourceURL {
        // An empty reference is the URL itself, so the redirect would never end.
        guard let location, !location.allSatisfy(\.isWhitespace) else { throw .badRedirect(.missingLocation) }
        guard let target = try? resolving(redirect: location), target.scheme.isWeb else {
            throw .badRedirect(.invalidLocation)
        }
        return target
    }
}

extension GuardedHTTPClient {
    /// The limits and request fields of a ``GuardedHTTPClient``. Every default is safe for untrusted sources.
    public struct Settings: Sendable {
        /// The hosts and ports that may be asked. Default: any host, ports 80 and 443.
        public var hosts = HostPolicy()
        /// Sources whose hosts and ports need not be in ``hosts``. Default: none.
        package var mappedSources = SourceMap()
        /// Request fields of the operator for some hosts. Default: none.
        public var fields = OriginFields()
        /// The addresses that may be connected to. Default: public addresses only.
        public var addresses = AddressPolicy()
        /// The largest body in bytes, counted as it arrives, at most 4 GiB - 1. Default: 50 MiB.
        public var maxSourceBytes = 50 << 20
        /// The number of redirects followed per download. Default: 10.
        public var maxRedirects = 10
        /// The time limit for one TCP connection and its TLS handshake, per address tried. Default: 5 s.
        public var connectTimeout = Duration.seconds(5)
        /// The time limit for a download: waiting for a slot, lookups, redirects, retries and the whole body. Default:
        /// 15 s.
        public var downloadTimeout = Duration.seconds(15)
        /// Concurrent downloads from one host. Default: 6.
        public var downloadsPerHost = 6
        /// Concurrent downloads from all hosts. Default: 64.
        public var maxDownloads = 64
        /// The byte budget of running downloads, and of finished downloads whose bytes are still in use. Downloads that
        /// do not fit wait; a single download may exceed it. Default: 512 MiB.
        public var maxInFlightBytes = 512 << 20
        /// Patterns, as in ``HostPolicy/allowHosts``, of hosts whose TLS certificates are not verified. Anyone on the
        /// network path can impersonate these hosts. Default: none.
        public var insecureTLSHosts: [String] = []
        /// The `User-Agent` of requests that set none.
        public var userAgent = "darkroom"
        /// Our name in `Via` (RFC 9110 §7.6.3): a token, by which a server recognizes its own requests.
        public var viaPseudonym = "darkroom"

        /// Settings with all defaults.
        public init() {}
    }
}

/// The cookies that the redirects of one download set, for its later requests to the same origins. Some hosts redirect
/// forever without them. They are forgotten with the download.
struct RedirectCookies {
    private var cookies: [String: [(name: Substring, value: Substring)]] = [:]
    private var count = 0

    private static let maxCookies = 20
    private static let maxBytes = 4_096

    /// Keeps up to 20 cookies of `Set-Cookie` fields (RFC 6265 §5.2), without long ones.
    ///
    /// - Parameter origin: ``SourceURL/origin`` of the response.
    mutating func store(_ lines: [String], from origin: String) {
        for line in lines where line.utf8.count <= Self.maxBytes {
            let parts = line.split(separator: ";", omittingEmptySubsequences: false).map(\.trimmingBlanks)
            guard let pair = parts.first, let equals = pair.firstIndex(of: "="),
                case let name = pair[..<equals].trimmingBlanks, !name.isEmpty
            else { continue }
            let known = cookies[origin, default: []].filter { $0.name != name }
            count -= cookies[origin, default: []].count - known.count
            cookies[origin] = known
            let isRemoved = parts.dropFirst().contains { $0.lowercased() == "max-age=0" }
            guard !isRemoved, count < Self.maxCookies else { continue }
            cookies[origin, default: []].append((name, pair[equals...].dropFirst().trimmingBlanks))
            count += 1
        }
    }

    /// The value of `Cookie` for a request to an origin; nil without cookies.
    func value(for origin: String) -> String? {
        guard let cookies = cookies[origin], !cookies.isEmpty else { return nil }
        return cookies.map { "\($0.name)=\($0.value)" }.joined(separator: "; ")
    }
}
