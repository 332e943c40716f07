import DarkroomNetwork
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// HTTP/1.1 connections with limits, whose requests are canceled when the client disconnects.
///
/// Hummingbird leaves a handler running when its client disconnects. Its own option, to keep reading during the
/// request, disables keep-alive. Here a channel handler sees the end of the client's stream and the task that serves
/// the connection is canceled, which costs nothing per request. A client that closes only its sending side counts as
/// disconnected too, and so does one that still reads its response when the grace period of a shutdown ends.
struct LimitedHTTP1Channel: ServerChildChannel {
    struct Value: ServerChildChannelValue {
        let connection: AcceptedConnection
        /// Succeeds once the client can send nothing more, and has its last answer.
        let isOver: EventLoopFuture<Void>
        /// Runs the connection's tasks.
        let executor: EventLoopExecutor
        /// Whether the client has reached its connection limit.
        let isRefused: Bool

        var channel: any Channel { connection.channel }
    }

    private let configuration: ListenerConfiguration
    private let clients: ConnectionTable
    /// Returns the current site.
    private let site: @Sendable () -> Site

    private var limits: ConnectionLimits { configuration.limits }

    init(_ configuration: ListenerConfiguration, site: @escaping @Sendable () -> Site) {
        self.configuration = configuration
        self.site = site
        clients = ConnectionTable(
            maxPerClient: configuration.limits.maxConnectionsPerClient, proxies: configuration.proxies)
    }

    private static let decoder = HTTP1Channel.Configuration.DecoderConfiguration(
        maxHeaderFieldSize: ConnectionLimits.maxFieldBytes, maxHeaderListSize: ConnectionLimits.maxHeadBytes,
        maxHeaderFieldCount: ConnectionLimits.maxFields)

    /// The framework's part of a connection, which answers the requests that wait.
    private func http(_ waiting: WaitingExchanges) -> HTTP1Channel {
        HTTP1Channel(
            responder: { [state = configuration.observers.state] request, writer, channel in
                // Each head that the framework reads has passed the handler in front.
                guard let exchange = waiting.next() else { return try await channel.close() }
                let response = await exchange.response(to: request, channel)
                // The end of the grace period has canceled the task, from which the connection's stream takes no
                // response.
                if Task.isCancelled, state.isGraceOver, response.body.contentLength != nil {
                    try await channel.send(response)
                } else {
                    try await writer.write(response: response.head, body: response.body)
                }
            }, configuration: .init(httpDecoderConfiguration: Self.decoder))
    }

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        let gone = channel.eventLoop.makePromise(of: Void.self)
        let waiting = WaitingExchanges()
        let http = http(waiting)
        let isRefused = !addClient(of: channel)
        let state = configuration.observers.state
        state.beginConnection()
        channel.closeFuture.whenComplete { _ in state.endConnection() }
        let slowReaders = slowReaders(of: channel, logger: logger)
        let executor = EventLoopExecutor(channel.eventLoop)
        let watch = NIOLoopBound(
            ClientWatchHandler(gone, limits: limits, state: state, slowReaders: slowReaders),
            eventLoop: channel.eventLoop)
        return channel.eventLoop.makeCompletedFuture {
            try channel.pipeline.syncOperations.addHandler(watch.value)
        }.flatMapErrorThrowing { error in
            gone.fail(error)
            throw error
        }.flatMap {
            limitUnsentBytes(of: channel)
        }.flatMap {
            http.setup(channel: channel, logger: logger)
        }.flatMapThrowing { connection in
            let connection = AcceptedConnection(connection, of: http, logger: logger)
            var isOver = gone.futureResult
            if !isRefused {
                let answers = try addHandlers(to: channel, waiting, watch: watch.value, executor)
                isOver = isOver.assumeIsolated().flatMap { answers.cancel(on: channel.eventLoop) }.nonisolated()
            }
            return Value(connection: connection, isOver: isOver, executor: executor, isRefused: isRefused)
        }
    }

    func handle(value: Value, logger: Logger) async {
        if value.isRefused { value.channel.close(promise: nil) }
        let serving = Task(executorPreference: value.executor) { await value.connection.serve() }
        value.isOver.whenComplete { _ in serving.cancel() }
        await withTaskCancellationHandler {
            await serving.value
        } onCancel: {
            serving.cancel()
        }
    }

    private func addClient(of channel: any Channel) -> Bool {
        guard let address = channel.peerAddress else { return true }
        guard clients.add(address) else { return false }
        channel.closeFuture.whenComplete { _ in clients.remove(address) }
        return true
    }

    private func slowReaders(of channel: any Channel, logger: Logger) -> SlowReaders {
        let (address, observers) = (channel.peerAddress, configuration.observers)
        let isShared = address.map(configuration.proxies.contain) ?? true
        return SlowReaders(
            unsent: observers.state.unsent, client: isShared ? nil : address?.unmapped.clientName
        ) { reason, pendingBytes in
            observers.metrics.record(reason)
            logger.info(
                "connection closed: the client reads too slowly",
                metadata: [
                    "reason": "\(reason)", "unsent-bytes": .stringConvertible(pendingBytes),
                    "client": "\(address?.description ?? "unknown")",
                ])
        }
    }

    /// Limits the unsent bytes in the kernel. The rest of a response then waits here, where its buffer is shared with
    /// the cache and its progress is visible. Best effort: not every system supports the option.
    private func limitUnsentBytes(of channel: any Channel) -> EventLoopFuture<Void> {
        let option = ChannelOptions.Types.SocketOption(level: .tcp, name: .init(rawValue: TCP_NOTSENT_LOWAT))
        return channel.setOption(option, value: Self.maxUnsentBytes).recover { _ in }
    }

    private static let maxUnsentBytes: SocketOptionValue = 128 << 10

    /// Adds the limits, the changes of targets and the answers to plain requests after the parser, before the handler
    /// that converts its parts to HTTPTypes.
    private func addHandlers(
        to channel: any Channel, _ waiting: WaitingExchanges, watch: ClientWatchHandler,
        _ executor: EventLoopExecutor
    ) throws -> AnswerHandler {
        let pipeline = channel.pipeline.syncOperations
        let parser = try pipeline.handler(type: ByteToMessageHandler<HTTPRequestDecoder>.self)
        let handler = RequestLimitsHandler(
            watch: watch, limits: limits, now: channel.eventLoop.now
        ) { [site, address = channel.peerAddress] in site().refuse($0, of: address) }
        var handlers: [any ChannelHandler] = [handler]
        let (basePath, ignored) = (configuration.basePath, configuration.ignoredParameters)
        if !basePath.isEmpty { handlers.append(TargetHandler { BasePath.target($0, below: basePath) }) }
        if !ignored.isEmpty { handlers.append(TargetHandler { ignored.removed(from: $0) }) }
        let isOnLoopback = channel.parent?.localAddress?.ipAddress.flatMap { IPAddress($0) }?.isLoopback ?? false
        let peer = channel.peerAddress.map {
            RequestHead.Peer($0, configuration.proxies, isOnLoopback: isOnLoopback)
        }
        let answers = AnswerHandler(site, waiting, watch: watch, limits: handler, peer: peer, on: executor)
        try pipeline.addHandlers(handlers + [answers], position: .after(parser))
        return answers
    }
}

/// Runs the steps of tasks on the event loop of their connection.
///
/// A request waits many times, and nearly every answer arrives on an event loop. Without this executor, each answer
/// would wake a thread of Swift's pool, and each write would wake the event loop again.
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    /// - Parameter loop: must not be shut down while tasks with this executor run.
    init(_ loop: any EventLoop) {
        self.loop = loop
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { [self] in job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

extension Channel {
    /// Sends a response around the connection's stream.
    fileprivate func send(_ response: Response) async throws {
        write(HTTPResponsePart.head(response.head), promise: nil)
        try await response.body.write(ChannelBodyWriter(channel: self))
    }
}

private struct ChannelBodyWriter: ResponseBodyWriter {
    let channel: any Channel

    func write(_ buffer: ByteBuffer) { channel.write(HTTPResponsePart.body(buffer), promise: nil) }

    consuming func finish(_ trailingHeaders: HTTPFields?) {
        channel.writeAndFlush(HTTPResponsePart.end(trailingHeaders), promise: nil)
    }
}
