import DarkroomHTTPCaching
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
package import NIOCore
import NIOExtras
import NIOHTTPTypes
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A listener: it accepts connections until a graceful shutdown, and ends when the last connection has ended.
///
/// Hummingbird's own server binds addresses only; this listener also takes sockets that are already bound.
package final class ListenerService: Service {
    let configuration: ListenerConfiguration
    private let onListening: @Sendable (any Channel) async -> Void
    /// Each request reads them once, so that no request meets two configurations.
    private let handlers: Mutex<Handlers>
    /// The value of `Date`, formatted once a second.
    private let date = Mutex((second: Int64.min, text: ""))

    /// - Parameter onListening: called with the listening channel, whose local address has the port.
    package init(_ configuration: ListenerConfiguration, onListening: @escaping @Sendable (any Channel) async -> Void) {
        self.configuration = configuration
        self.onListening = onListening
        handlers = Mutex(Handlers(configuration))
    }

    /// Answers later requests by the routes, middleware and fast responders of another configuration, also on open
    /// connections. Everything else stays as it is, and requests in flight finish as they began.
    package func answer(by configuration: ListenerConfiguration) {
        let new = Handlers(configuration)
        handlers.withLock { $0 = new }
    }

    private var logger: Logger { configuration.observers.logger }

    /// Throws an `IOError` if the address cannot be bound, for example because it is in use.
    package func run() async throws {
        let quiescing = ServerQuiescingHelper(group: MultiThreadedEventLoopGroup.singleton)
        let connections = LimitedHTTP1Channel(configuration, responder: responder) { [self] in
            handlers.withLock(\.fastResponders)
        }
        let listening = try await listen(connections, quiescing)
        await withGracefulShutdownHandler {
            await onListening(listening.channel)
            await serve(listening, connections)
        } onGracefulShutdown: {
            quiescing.initiateShutdown(promise: nil)
        }
    }

    private typealias Listening = NIOAsyncChannel<LimitedHTTP1Channel.Value, Never>

    private func listen(
        _ connections: LimitedHTTP1Channel, _ quiescing: ServerQuiescingHelper
    ) async throws -> Listening {
        let maxConnections = MaximumAvailableConnections(configuration.limits.maxConnections, logger: logger)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.backlog, value: Self.backlog)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.allowRemoteHalfClosure, value: true)
            .serverChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandlers(
                        AvailableConnectionsChannelHandler(delegate: maxConnections),
                        quiescing.makeServerChannelHandler(channel: channel))
                }
            }
        let setUp: @Sendable (any Channel) -> EventLoopFuture<LimitedHTTP1Channel.Value> = { [logger] channel in
            connections.setup(channel: channel, logger: logger)
        }
        switch configuration.address {
        case .host(let host, let port):
            return try await bootstrap.bind(host: host, port: port, childChannelInitializer: setUp)
        case .unixSocket(let path):
            try await Self.requireUnused(path)
            return try await bootstrap.bind(
                unixDomainSocketPath: path, cleanupExistingSocketFile: true, childChannelInitializer: setUp)
        case .inherited(let descriptor):
            return try await bootstrap.bind(descriptor, childChannelInitializer: setUp)
        }
    }

    /// Throws if a server listens on the socket: binding would take it away from that server. A socket that a server
    /// has left behind is replaced.
    private static func requireUnused(_ path: String) async throws {
        let client = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
        guard let channel = try? await client.connect(unixDomainSocketPath: path).get() else { return }
        try? await channel.close()
        throw IOError(errnoCode: EADDRINUSE, reason: "bind")
    }

    /// The number of connections that the kernel queues until they are accepted.
    private static let backlog: ChannelOptions.Types.BacklogOption.Value = 1024

    private func serve(_ listening: Listening, _ connections: LimitedHTTP1Channel) async {
        await withDiscardingTaskGroup { group in
            do {
                try await listening.executeThenClose { accepted in
                    for try await connection in accepted {
                        group.addTask { [logger] in await connections.handle(value: connection, logger: logger) }
                    }
                }
            } catch {
                logger.error("the listener failed", metadata: ["error": "\(error)"])
            }
        }
    }

    private var responder: HTTPChannelHandler.Responder {
        { [self, logger] request, writer, channel in
            let context = ServerRequestContext(
                source: ApplicationRequestContextSource(channel: channel, logger: logger))
            var response = try await handlers.withLock(\.router).respond(to: request, context: context)
            response.headers[.date] = dateText
            response.headers[.server] = ListenerConfiguration.serverName
            // The end of the grace period has canceled the task, from which the connection's stream takes no response.
            if Task.isCancelled, configuration.observers.state.isGraceOver, response.body.contentLength != nil {
                try await channel.send(response)
            } else {
                try await writer.write(response: response.head, body: response.body)
            }
        }
    }

    private var dateText: String {
        let second = Int64(Date().timeIntervalSince1970)
        return date.withLock { latest in
            if latest.second != second {
                latest = (second, HTTPDate(Date(timeIntervalSince1970: Double(second))).description)
            }
            return latest.text
        }
    }
}

extension ListenerService: CustomStringConvertible {
    /// Without the configuration, which contains secrets: service groups log the services that they run.
    package var description: String { "listener" }
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

/// What answers requests.
private struct Handlers: Sendable {
    let router: any HTTPResponder<ServerRequestContext>
    let fastResponders: [any FastResponder]

    init(_ configuration: ListenerConfiguration) {
        router = configuration.makeRouter().buildResponder()
        fastResponders = configuration.fastResponders
    }
}
