import Foundation
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
package final class ListenerService: Service {
    let configuration: ListenerConfiguration
    private let onListening: @Sendable (any Channel) async -> Void
    /// Read once per request, so that a request never sees two configurations.
    private let site: Mutex<Site>

    /// - Parameter onListening: called with the listening channel, whose local address has the port.
    package init(_ configuration: ListenerConfiguration, onListening: @escaping @Sendable (any Channel) async -> Void) {
        self.configuration = configuration
        self.onListening = onListening
        site = Mutex(Site(configuration))
    }

    /// Answers later requests by the routes of another configuration, also on open connections. Everything else stays
    /// as it is, and requests in flight finish as they began.
    package func answer(by configuration: ListenerConfiguration) {
        let new = Site(configuration)
        site.withLock { $0 = new }
    }

    private var logger: Logger { configuration.observers.logger }

    /// Throws an `IOError` if the address cannot be bound, for example because it is in use.
    package func run() async throws {
        let quiescing = ServerQuiescingHelper(group: MultiThreadedEventLoopGroup.singleton)
        let connections = LimitedHTTP1Channel(configuration) { [self] in site.withLock(\.self) }
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
}

extension ListenerService: CustomStringConvertible {
    /// Without the configuration, which contains secrets: service groups log the services that they run.
    package var description: String { "listener" }
}
