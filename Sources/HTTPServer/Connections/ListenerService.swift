import DarkroomHTTPCaching
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
package import NIOCore
import NIOExtras
import NIOPosix
import ServiceLifecycle
import Synchronization

/// A listener: it accepts connections until a graceful shutdown, and ends when the last connection has ended.
///
/// Hummingbird's own server binds addresses only; this listener also takes sockets that are already bound.
package struct ListenerService: Service {
    let configuration: ListenerConfiguration
    private let onListening: @Sendable (any Channel) async -> Void
    private let handlers: CurrentHandlers

    /// - Parameter onListening: called with the listening channel, whose local address has the port.
    package init(_ configuration: ListenerConfiguration, onListening: @escaping @Sendable (any Channel) async -> Void) {
        self.configuration = configuration
        self.onListening = onListening
        handlers = CurrentHandlers(configuration)
    }

    /// Answers later requests by the routes, middleware and fast responders of another configuration, also on open
    /// connections. Everything else stays as it is, and requests in flight finish as they began.
    package func answer(by configuration: ListenerConfiguration) { handlers.replace(by: configuration) }

    private var logger: Logger { configuration.observers.logger }

    /// Throws an `IOError` if the address cannot be bound, for example because it is in use.
    package func run() async throws {
        let quiescing = ServerQuiescingHelper(group: MultiThreadedEventLoopGroup.singleton)
        let connections = LimitedHTTP1Channel(configuration, responder: responder) { [handlers] in
            handlers.value.fastResponders
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
                        group.addTask { await connections.handle(value: connection, logger: logger) }
                    }
                }
            } catch {
                logger.error("the listener failed", metadata: ["error": "\(error)"])
            }
        }
    }

    private var responder: HTTPChannelHandler.Responder {
        let (handlers, date, logger) = (handlers, DateText(), logger)
        return { request, writer, channel in
            let context = ServerRequestContext(
                source: ApplicationRequestContextSource(channel: channel, logger: logger))
            var response = try await handlers.value.router.respond(to: request, context: context)
            response.headers[.date] = date.now
            response.headers[.server] = ListenerConfiguration.serverName
            try await writer.write(response: response.head, body: response.body)
        }
    }
}

extension ListenerService: CustomStringConvertible {
    /// Without the configuration, which contains secrets: service groups log the services that they run.
    package var description: String { "listener" }
}

/// What answers requests: each request reads it once, so that no request meets two configurations.
private final class CurrentHandlers: Sendable {
    struct Value: Sendable {
        let router: any HTTPResponder<ServerRequestContext>
        let fastResponders: [any FastResponder]

        init(_ configuration: ListenerConfiguration) {
            router = configuration.makeRouter().buildResponder()
            fastResponders = configuration.fastResponders
        }
    }

    private let storage: Mutex<Value>

    init(_ configuration: ListenerConfiguration) {
        storage = Mutex(Value(configuration))
    }

    var value: Value { storage.withLock(\.self) }

    func replace(by configuration: ListenerConfiguration) {
        let new = Value(configuration)
        storage.withLock { $0 = new }
    }
}

/// The value of `Date`, formatted once a second.
private final class DateText: Sendable {
    private let latest = Mutex((second: Int64.min, text: ""))

    var now: String {
        let second = Int64(Date().timeIntervalSince1970)
        return latest.withLock { latest in
            if latest.second != second {
                latest = (second, HTTPDate(Date(timeIntervalSince1970: Double(second))).description)
            }
            return latest.text
        }
    }
}
