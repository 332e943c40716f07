import DarkroomNetwork
import DarkroomOrigin
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// HTTP/1.1 connections with limits, whose requests are cancelled once the client is gone.
///
/// The server otherwise leaves a handler running when its client disconnects, and its own remedy, reading on behind the
/// request, costs every connection its keep-alive. Here a channel handler sees the client's end of stream, and the one
/// task that serves the connection is cancelled: nothing is spent per request. A client that closes only its sending
/// side is gone too, and so is one that still takes its answer a while after the server was told to end.
struct LimitedHTTP1Channel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let connection: Arrival
        /// Succeeds once nothing more can come from the client.
        let clientIsGone: EventLoopFuture<Void>
        /// Whether the client has too many connections already.
        let isTurnedAway: Bool

        var channel: any Channel { connection.channel }
    }

    private let http: HTTP1Channel
    private let limits: ConnectionLimits
    private let clients: ConnectionTable
    private let proxies: TrustedProxies
    private let meter: RequestMetrics

    /// - Parameter meter: counts what is refused before it becomes a request.
    init(responder: @escaping HTTPChannelHandler.Responder, configuration: WebConfiguration, meter: RequestMetrics) {
        limits = configuration.clientLimits.connections
        proxies = TrustedProxies(networks: configuration.clientLimits.trustedProxies)
        clients = ConnectionTable(maxPerClient: limits.maxConnectionsPerClient, proxies: proxies)
        self.meter = meter
        let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
            maxHeaderFieldSize: ConnectionLimits.maxFieldBytes, maxHeaderListSize: ConnectionLimits.maxHeadBytes,
            maxHeaderFieldCount: ConnectionLimits.maxFields)
        http = HTTP1Channel(responder: responder, configuration: .init(httpDecoderConfiguration: decoder))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let gone = channel.eventLoop.makePromise(of: Void.self)
        let isTurnedAway = !takePlace(for: channel)
        let watch = NIOLoopBound(ConnectionWatch(gone, limits: limits), eventLoop: channel.eventLoop)
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(watch.value)
        }.flatMapErrorThrowing { error in
            gone.fail(error)
            throw error
        }.flatMap {
            holdLittle(for: channel)
        }.flatMap {
            http.setup(channel: channel, logger: logger)
        }.flatMapThrowing { connection in
            let connection = Arrival(connection, of: http, logger: logger)
            try addGuard(to: channel, beside: watch.value, logger: logger)
            return Value(connection: connection, clientIsGone: gone.futureResult, isTurnedAway: isTurnedAway)
        }
    }

    func handle(value: Value, logger: Logger) async {
        if value.isTurnedAway { value.channel.close(promise: nil) }
        let serving = Task { await value.connection.serve() }
        value.clientIsGone.whenComplete { _ in serving.cancel() }
        await withTaskCancellationHandler {
            await serving.value
        } onCancel: {
            serving.cancel()
        }
    }

    private func takePlace(for channel: any Channel) -> Bool {
        guard let address = channel.remoteAddress?.ipAddress.flatMap(IPAddress.init) else { return true }
        guard clients.enter(address) else { return false }
        channel.closeFuture.whenComplete { _ in clients.leave(address) }
        return true
    }

    /// Has the system keep little of what a client has not taken: what waits then waits here, where it is shared with the cache, and whether
    /// the client takes anything can be seen. A system that can't do that does without.
    private func holdLittle(for channel: any Channel) -> EventLoopFuture<Void> {
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_NOTSENT_LOWAT))
        return channel.setOption(option, value: Self.maxUnsentBytes).recover { _ in }
    }

    private static let maxUnsentBytes: SocketOptionValue = 128 << 10

    /// Behind the parser, before what turns its parts into those of HTTPTypes.
    private func addGuard(to channel: any Channel, beside watch: ConnectionWatch, logger: Logger) throws {
        let pipeline = channel.pipeline.syncOperations
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        let address = channel.remoteAddress?.ipAddress
        let guarding = RequestGuard(watch: watch, limits: limits, now: channel.eventLoop.now) { [meter] problem in
            let id = "\(RequestID())"
            meter.note(problem.kind)
            logger.info(
                "request refused",
                metadata: [
                    "status": .stringConvertible(problem.kind.status.code), "problem": "\(problem.kind.rawValue)",
                    "request-id": "\(id)", "client": "\(address ?? "unknown")",
                ])
            return problem.parts(requestID: id)
        }
        try pipeline.addHandler(guarding, position: .after(parser))
    }
}
