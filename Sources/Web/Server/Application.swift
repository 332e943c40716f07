package import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
package import Pipeline

/// The HTTP server, ready to run as a service.
///
/// - Parameters:
///   - instruments: where it counts, and what it tells whoever runs it.
///   - logger: takes one line at `info` for each request.
///   - onServerRunning: called with the listening channel, whose local address has the port.
package func makeApplication(
    configuration: WebConfiguration, pipeline: ImagePipeline, instruments: Instruments, logger: Logger,
    onServerRunning: @escaping @Sendable (any Channel) async -> Void = { _ in }
) -> some ApplicationProtocol {
    let meter = PictureMeter(instruments.metrics)
    let image = ImageEndpoint(configuration: configuration) { request throws(PipelineError) in
        try await meter.measure { () throws(PipelineError) in try await pipeline.image(for: request) }
    }
    let endpoints = Endpoints(
        image: image,
        explain: ExplainEndpoint(image: image) { request, fetch throws(PipelineError) in
            try await pipeline.explain(request, fetch: fetch)
        },
        purge: PurgeEndpoint(token: configuration.adminToken) { target, soft, dryRun, tiers in
            await pipeline.purge(target, soft: soft, dryRun: dryRun, tiers: tiers)
        } removeExpired: {
            await pipeline.removeExpired()
        },
        entries: EntriesEndpoint(token: configuration.adminToken) { await pipeline.entries(of: $0.source) },
        operation: OperationEndpoint(instruments, token: configuration.adminToken))
    return makeApplication(endpoints, configuration: configuration, logger: logger, onServerRunning: onServerRunning)
}

func makeApplication(
    _ endpoints: Endpoints, configuration: WebConfiguration, logger: Logger,
    onServerRunning: @escaping @Sendable (any Channel) async -> Void
) -> some ApplicationProtocol {
    Application(
        router: makeRouter(endpoints, logger: logger),
        server: HTTPServerBuilder { responder in
            DisconnectAwareChannel(
                http: HTTP1Channel(responder: responder, configuration: .init(idleTimeout: idleTimeout)))
        },
        configuration: ApplicationConfiguration(
            address: .hostname(configuration.host, port: configuration.port),
            serverName: "darkroom", backlog: listenBacklog,
            availableConnectionsDelegate: .maximum(maxConnections, logger: logger)),
        onServerRunning: onServerRunning, logger: logger)
}

func makeRouter(_ endpoints: Endpoints, logger: Logger) -> Router<WebContext> {
    let routes = endpoints.routes
    let router = Router(context: WebContext.self)
    router.add(
        middleware: FrontDoor(
            routes: RouteTable(routes), instruments: endpoints.operation.instruments, logger: logger))
    for route in routes {
        for method in route.methods {
            router.on(RouterPath(route.path), method: method) { try await route.respond($0, $1) }
        }
    }
    return router
}

/// How long a connection may be silent between requests, or within one that is being sent.
private let idleTimeout = TimeAmount.seconds(30)
/// Connections that the kernel keeps until they are accepted.
private let listenBacklog = 1024
/// Further connections wait in the backlog until one of these ends.
private let maxConnections = 8192
