import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1

/// One request to one vetted address, and its response.
struct Exchanges: Sendable {
    enum Reply {
        case content(OriginResponse)
        case redirect(location: String?)
    }

    private let settings: GuardedHTTPClient.Settings
    private let clients: PinnedClients

    init(settings: GuardedHTTPClient.Settings, eventLoopGroup: any EventLoopGroup) {
        self.settings = settings
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

    func run(_ hop: OriginRequest, at address: IPAddress) async throws(ExchangeFailure) -> Reply {
        guard let host = hop.url.host, let request = makeRequest(hop, host: host) else {
            throw ExchangeFailure(.invalidURL(.invalidHost))
        }
        let collector = ResponseCollector(maxSourceBytes: settings.maxSourceBytes)
        let key = PinnedClients.Key(host: host.description, address: address)
        let ending = await clients.withClient(for: key) { client in
            await Self.ending(of: client.execute(request: request, delegate: collector))
        }
        guard let ending else { throw ExchangeFailure(.cancelled) }
        return try reply(from: hop.url, progress: collector.finish(), ending: ending)
    }

    /// The request, or nil if the HTTP client would read another host out of the URL than we did, which its pinning
    /// would not cover.
    private func makeRequest(_ hop: OriginRequest, host: SourceURL.Host) -> HTTPClient.Request? {
        let headers = RequestHeaders.make(
            userAgent: settings.userAgent, viaPseudonym: settings.viaPseudonym, extra: hop.headers)
        let request = try? HTTPClient.Request(url: hop.url.canonical, headers: headers)
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

    private func reply(from url: SourceURL, progress: ResponseCollector.Progress, ending: Result<Void, any Error>)
        throws(ExchangeFailure) -> Reply
    {
        switch progress.judgement {
        case .refused(let error): throw ExchangeFailure(error)
        case .redirect(let location): return .redirect(location: location)
        case .content, nil: break
        }
        if case .failure(let thrown) = ending {
            throw ExchangeFailure(
                thrown, requestSent: progress.requestedAt != nil, headReceived: progress.head != nil)
        }
        guard let head = progress.head, let requestedAt = progress.requestedAt else {
            throw ExchangeFailure(.unreachable(.malformed))
        }
        guard progress.body.readableBytes > 0 else { throw ExchangeFailure(.emptyBody) }
        return .content(
            OriginResponse(
                url: url, status: HTTPResponse.Status(code: Int(head.status.code)), headers: HTTPFields(head.headers),
                body: progress.body, requestedAt: requestedAt, receivedAt: progress.receivedAt))
    }
}

extension HTTPClient.Configuration {
    /// A client that reaches one host at one address, follows nothing, decodes nothing and reports to no tracer.
    fileprivate init(pinning key: PinnedClients.Key, settings: GuardedHTTPClient.Settings) {
        self.init(redirectConfiguration: .disallow, timeout: .init(connect: TimeAmount(settings.connectTimeout)))
        httpVersion = .http1Only
        dnsOverride = [key.host: key.address.description]
        connectionPool.idleTimeout = .seconds(30)
        connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = max(1, settings.downloadsPerHost)
        // Whoever fails to connect tries the next address instead; retries in here would hide the check below.
        connectionPool.retryConnectionEstablishment = false
        tracing.tracer = nil
        // The backstop: should pinning ever break, the connection ends before a request is written.
        http1_1ConnectionDebugInitializer = { Exchanges.checkPeer(of: $0, is: key.address) }
    }
}
