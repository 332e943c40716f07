import AsyncHTTPClient
import DarkroomHTTPClient
import DarkroomNetwork
import DarkroomWaiting
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import Synchronization

/// Sends one request to one vetted address and receives its response.
struct PinnedTransport: Sendable {
    enum Reply {
        /// An original, or 304 for the known original.
        case answer(OriginResponse)
        /// - Parameter cookies: the values of `Set-Cookie`.
        case redirect(location: String?, cookies: [String])
    }

    private let settings: GuardedHTTPClient.Settings
    private let clients: PinnedClients
    private let budget: InFlightByteBudget

    init(settings: GuardedHTTPClient.Settings, budget: InFlightByteBudget, eventLoopGroup: any EventLoopGroup) {
        self.settings = settings
        self.budget = budget
        clients = Self.makeClients(settings: settings, eventLoopGroup: eventLoopGroup)
    }

    /// Capacity for twice the running downloads, so that recently asked hosts keep their connections.
    ///
    /// Each client stays on one event loop. Otherwise a request may be handled on another loop than its connection, and
    /// every part of the body would wake both.
    static func makeClients(settings: GuardedHTTPClient.Settings, eventLoopGroup: any EventLoopGroup) -> PinnedClients {
        PinnedClients(capacity: 2 * settings.maxDownloads, idleLifetime: .seconds(60)) { key in
            HTTPClient(
                eventLoopGroupProvider: .shared(eventLoopGroup.next()),
                configuration: HTTPClient.Configuration(pinning: key, settings: settings))
        }
    }

    func shutdown() async {
        await clients.shutdown()
    }

    func run(
        _ hop: OriginRequest, at address: IPAddress, phases: DownloadProgress
    ) async throws(ExchangeFailure) -> Reply {
        let headers = RequestHeaders(
            hop, userAgent: settings.userAgent, viaPseudonym: settings.viaPseudonym, trace: .trace(for: hop))
        guard let host = hop.url.host, let request = makeRequest(hop.url, host: host, headers: headers.all) else {
            throw ExchangeFailure(.invalidURL(.invalidHost))
        }
        let reservation = budget.makeReservation(for: hop.client)
        let collector = ResponseCollector(
            maxSourceBytes: settings.maxSourceBytes, isConditional: !hop.conditions.isEmpty, reservation: reservation,
            phases: phases, onProgress: hop.onProgress)
        phases.enter(.connecting)
        let result = await clients.withClient(for: PinnedClients.Key(host: host, address: address)) { client in
            let transfer = client.execute(request: request, delegate: collector)
            // The transfer ends at once at the deadline or when our task is canceled.
            return await phases.deadline.wait {
                await Result { try await transfer.futureResult.get() }
            } endedBy: {
                transfer.cancel()
                collector.stopWaiting()
            }
        }
        guard let result else { throw ExchangeFailure(.cancelled) }
        let progress = collector.finish()
        if case .redirect(let location) = progress.action {
            return .redirect(location: location, cookies: progress.head?.headers["set-cookie"] ?? [])
        }
        var response = try progress.response(from: hop.url, sentFields: headers.selecting, result: result)
        response.reservation = reservation
        return .answer(response)
    }

    /// The request, or nil if the HTTP client parses another origin from the URL than we did, which pinning would not
    /// cover.
    private func makeRequest(_ url: SourceURL, host: SourceURL.Host, headers: HTTPHeaders) -> HTTPClient.Request? {
        guard let exact = ExactRequest(.GET, url.canonical) else { return nil }
        var fields = exact.fields
        fields.add(contentsOf: headers)
        let request = try? HTTPClient.Request(url: exact.origin, headers: fields)
        guard let request, request.host == host.urlText, request.port == url.port,
            request.useTLS == (url.scheme == .https)
        else { return nil }
        return request
    }

    /// Reads more at once than NIO does by default: an original takes a fourth of the system calls and steps.
    static func enlargeReads(of channel: any Channel) -> EventLoopFuture<Void> {
        #if os(Linux)
            let allocator = AdaptiveRecvByteBufferAllocator(minimum: 16 << 10, initial: 64 << 10, maximum: 256 << 10)
            return channel.setOption(.recvAllocator, value: allocator)
        #else
            return channel.eventLoop.makeSucceededVoidFuture()
        #endif
    }

    /// Closes the connection and fails unless it leads to the vetted address.
    static func checkPeer(of channel: any Channel, is vetted: IPAddress) -> EventLoopFuture<Void> {
        guard let peer = channel.remoteAddress, IPAddress(peer) == vetted else {
            return channel.close().flatMapThrowing { throw UnvettedPeer() }
        }
        return channel.eventLoop.makeSucceededVoidFuture()
    }
}

extension HTTPClient.Configuration {
    /// A client that reaches one host at one address, follows no redirects, decodes nothing and reports to no tracer:
    /// ``RequestHeaders`` propagates traces.
    fileprivate init(pinning key: PinnedClients.Key, settings: GuardedHTTPClient.Settings) {
        self = .exact(timeout: .init(connect: TimeAmount(settings.connectTimeout)))
        if key.host.matches(anyOf: settings.insecureTLSHosts) {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.certificateVerification = .none
            tlsConfiguration = tls
        }
        dnsOverride = [key.host.description: key.address.description]
        connectionPool.idleTimeout = .seconds(30)
        connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, settings.downloadsPerHost)
        // A failure to connect leads to the next address. Retries in the client would hide the check below.
        connectionPool.retryConnectionEstablishment = false
        // The backstop: if pinning ever breaks, the connection ends before a request is written.
        http1_1ConnectionDebugInitializer = { channel in
            PinnedTransport.checkPeer(of: channel, is: key.address)
                .flatMap { PinnedTransport.enlargeReads(of: channel) }
                .flatMap { ClientConnection.prepare(channel) }
        }
    }
}

extension IPAddress {
    /// The address of a connected or bound socket, or nil for a Unix domain socket.
    init?(_ socketAddress: SocketAddress) {
        guard let text = socketAddress.ipAddress else { return nil }
        self.init(text)
    }
}

/// HTTP clients that can each reach one host at one vetted address only.
///
/// AsyncHTTPClient has no resolver hook and never removes the pool of a host, so whole clients are pinned and evicted.
/// They share the event loops. A client that is not in use is evicted after `idleLifetime`, checked when a client is
/// requested, or above `capacity`, the least recently used first.
final class PinnedClients: Sendable {
    struct Key: Hashable {
        let host: SourceURL.Host
        let address: IPAddress
    }

    private struct Entry {
        let client: HTTPClient
        var users = 0
        var lastUse: ContinuousClock.Instant
    }

    private struct Table {
        var entries: [Key: Entry] = [:]
        var isShutDown = false
        var nextSweep = ContinuousClock.now
    }

    private let table = Mutex(Table())
    private let capacity: Int
    private let idleLifetime: Duration
    private let makeClient: @Sendable (Key) -> HTTPClient

    init(capacity: Int, idleLifetime: Duration, makeClient: @escaping @Sendable (Key) -> HTTPClient) {
        self.capacity = capacity
        self.idleLifetime = idleLifetime
        self.makeClient = makeClient
    }

    deinit {
        Self.retire(table.withLock { $0.entries.values.map(\.client) })
    }

    /// Runs `body` with the client for `key`, which is not retired before `body` ends, or returns nil after shutdown.
    func withClient<Value>(for key: Key, _ body: (HTTPClient) async -> Value) async -> Value? {
        guard let client = lease(key) else { return nil }
        defer { release(key) }
        return await body(client)
    }

    /// Closes all connections and ends running transfers. No client is available afterward.
    func shutdown() async {
        let clients = table.withLock { table in
            table.isShutDown = true
            defer { table.entries = [:] }
            return table.entries.values.map(\.client)
        }
        for client in clients { try? await client.shutdown() }
    }

    var count: Int { table.withLock { $0.entries.count } }

    private func lease(_ key: Key) -> HTTPClient? {
        let now = ContinuousClock.now
        let (client, retired) = table.withLock { table -> (HTTPClient?, [HTTPClient]) in
            guard !table.isShutDown else { return (nil, []) }
            var entry = table.entries[key] ?? Entry(client: makeClient(key), lastUse: now)
            entry.users += 1
            entry.lastUse = now
            table.entries[key] = entry
            return (entry.client, evict(from: &table, now: now))
        }
        Self.retire(retired)
        return client
    }

    private func release(_ key: Key) {
        table.withLock { table in
            table.entries[key]?.users -= 1
            table.entries[key]?.lastUse = .now
        }
    }

    /// Removes unused clients: clients above the capacity and, once per idle lifetime, clients that were idle too long.
    private func evict(from table: inout Table, now: ContinuousClock.Instant) -> [HTTPClient] {
        let excess = table.entries.count - capacity
        guard excess > 0 || table.nextSweep <= now else { return [] }
        table.nextSweep = now + idleLifetime
        let oldestFirst = table.entries.filter { $0.value.users == 0 }.sorted { $0.value.lastUse < $1.value.lastUse }
        let evicted = oldestFirst.enumerated().prefix { index, entry in
            index < excess || entry.value.lastUse.duration(to: now) >= idleLifetime
        }
        return evicted.compactMap { table.entries.removeValue(forKey: $0.element.key)?.client }
    }

    private static func retire(_ clients: [HTTPClient]) {
        // The clients are unused, and no caller could handle the error of a connection that failed to close.
        for client in clients { client.shutdown { _ in } }
    }
}
