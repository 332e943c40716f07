import AsyncHTTPClient
import DarkroomNetwork
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL

/// One request to one vetted address, and its response.
struct PinnedTransport: Sendable {
    enum Reply {
        /// An original, or the word that the known one is still right.
        case answer(OriginResponse)
        case redirect(location: String?)
    }

    private let settings: GuardedHTTPClient.Settings
    private let clients: PinnedClients
    private let bytes: InFlightByteBudget

    init(settings: GuardedHTTPClient.Settings, bytes: InFlightByteBudget, eventLoopGroup: any EventLoopGroup) {
        self.settings = settings
        self.bytes = bytes
        clients = Self.makeClients(settings: settings, eventLoopGroup: eventLoopGroup)
    }

    /// Room for every running download twice, so that the hosts asked last keep their connections.
    static func makeClients(settings: GuardedHTTPClient.Settings, eventLoopGroup: any EventLoopGroup) -> PinnedClients {
        PinnedClients(capacity: 2 * settings.maxDownloads, idleLifetime: .seconds(60)) { key in
            HTTPClient(
                eventLoopGroupProvider: .shared(eventLoopGroup),
                configuration: HTTPClient.Configuration(pinning: key, settings: settings))
        }
    }

    func shutdown() async {
        await clients.shutdown()
    }

    /// - Parameter phases: told how far the exchange is.
    func run(
        _ hop: OriginRequest, at address: IPAddress, phases: DownloadProgress
    ) async throws(ExchangeFailure) -> Reply {
        let headers = RequestHeaders(
            hop, userAgent: settings.userAgent, viaPseudonym: settings.viaPseudonym, trace: .trace(for: hop))
        guard let host = hop.url.host, let request = makeRequest(hop.url, host: host, headers: headers.all) else {
            throw ExchangeFailure(.invalidURL(.invalidHost))
        }
        let hold = bytes.open()
        let collector = ResponseCollector(
            maxSourceBytes: settings.maxSourceBytes, isConditional: !hop.conditions.isEmpty, hold: hold,
            phases: phases, onProgress: hop.onProgress)
        phases.enter(.connecting)
        let ending = await clients.withClient(for: PinnedClients.Key(host: host, address: address)) { client in
            await Self.ending(of: client.execute(request: request, delegate: collector))
        }
        guard let ending else { throw ExchangeFailure(.cancelled) }
        let progress = collector.finish()
        if case .redirect(let location) = progress.evaluation { return .redirect(location: location) }
        var response = try progress.response(from: hop.url, sentFields: headers.selecting, ending: ending)
        response.reservation = hold
        return .answer(response)
    }

    /// The request, or nil if the HTTP client would read another host out of the URL than we did, which its pinning
    /// would not cover.
    private func makeRequest(_ url: SourceURL, host: SourceURL.Host, headers: HTTPHeaders) -> HTTPClient.Request? {
        let request = try? HTTPClient.Request(url: url.canonical, headers: headers)
        return request?.host == host.urlText ? request : nil
    }

    /// Waits for the transfer, which ends at once when our task is cancelled.
    private static func ending(of transfer: HTTPClient.Task<Void>) async -> Result<Void, any Error> {
        await withTaskCancellationHandler {
            do { return .success(try await transfer.futureResult.get()) } catch { return .failure(error) }
        } onCancel: {
            transfer.cancel()
        }
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
    /// A client that reaches one host at one address, follows nothing, decodes nothing and reports to no tracer:
    /// traces are carried on by our own fields, whichever way the client is asked.
    fileprivate init(pinning key: PinnedClients.Key, settings: GuardedHTTPClient.Settings) {
        self.init(redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(settings.connectTimeout)))
        if key.host.matches(anyOf: settings.insecureTLSHosts) {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.certificateVerification = .none
            tlsConfiguration = tls
        }
        httpVersion = .http1Only
        dnsOverride = [key.host.description: key.address.description]
        connectionPool.idleTimeout = .seconds(30)
        connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, settings.downloadsPerHost)
        // Whoever fails to connect tries the next address instead; retries in here would hide the check below.
        connectionPool.retryConnectionEstablishment = false
        tracing.tracer = nil
        // The backstop: should pinning ever break, the connection ends before a request is written.
        http1_1ConnectionDebugInitializer = { channel in
            PinnedTransport.checkPeer(of: channel, is: key.address).flatMap { StatusGuard.install(on: channel) }
        }
    }
}
