package import DarkroomPipeline
package import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
import Tracing

/// The HTTP server, ready to run as services: one for each door of the configuration.
///
/// - Parameters:
///   - prefetcher: takes the jobs of `/prefetch`. Event streams end with its jobs, so shut it down before the server.
///   - observability: where it counts, and what it tells whoever runs it.
///   - logger: takes one line at `info` for each request.
///   - onServerRunning: called for each door with the listening channel, whose local address has the port.
package func makeApplications(
    configuration: WebConfiguration, pipeline: ImagePipeline, prefetcher: Prefetcher, observability: Observability,
    logger: Logger, onServerRunning: @escaping @Sendable (Listener, any Channel) async -> Void = { _, _ in }
) -> [(door: Listener, application: any ApplicationProtocol)] {
    let meter = ImageMetrics(observability.metrics)
    let image = ImageEndpoint(configuration: configuration) {
        await pipeline.location(of: $0)
    } picture: { request throws(PipelineError) in
        try await meter.measure { () throws(PipelineError) in try await pipeline.image(for: request) }
    }
    let endpoints = Endpoints(
        image: image,
        explain: ExplainEndpoint(image: image) { request, fetch throws(PipelineError) in
            try await pipeline.explain(request, fetch: fetch)
        },
        purge: PurgeEndpoint { target, soft, dryRun, tiers in
            await pipeline.purge(target, soft: soft, dryRun: dryRun, tiers: tiers)
        } removeExpired: {
            await pipeline.removeExpired()
        },
        entries: EntriesEndpoint { await pipeline.entries(of: $0.source) },
        prefetch: PrefetchEndpoint(prefetcher, limits: configuration.limits, presets: configuration.access.presets),
        operation: OperationEndpoint(observability: observability), srcset: SrcsetEndpoint(configuration: configuration))
    return configuration.doors.map { door in
        let application = makeApplication(endpoints, at: door, configuration: configuration, logger: logger) {
            await onServerRunning(door, $0)
        }
        return (door, application)
    }
}

func makeApplication(
    _ endpoints: Endpoints, at door: Listener = .main, configuration: WebConfiguration, logger: Logger,
    onServerRunning: @escaping @Sendable (any Channel) async -> Void
) -> some ApplicationProtocol {
    let address = configuration.address(of: door)
    return Application(
        router: makeRouter(endpoints, at: door, configuration: configuration, logger: logger),
        server: HTTPServerBuilder { responder in
            LimitedHTTP1Channel(
                responder: responder, configuration: configuration,
                meter: RequestMetrics(endpoints.operation.observability.metrics))
        },
        configuration: ApplicationConfiguration(
            address: .hostname(address.host, port: address.port),
            serverName: "darkroom", backlog: listenBacklog,
            availableConnectionsDelegate: .maximum(configuration.clientLimits.connections.maxConnections, logger: logger)),
        onServerRunning: onServerRunning, logger: logger)
}

func makeRouter(
    _ endpoints: Endpoints, at door: Listener = .main, configuration: WebConfiguration = WebConfiguration(),
    logger: Logger, instrument: any Instrument = InstrumentationSystem.instrument
) -> Router<ServerRequestContext> {
    let routes = endpoints.routes(at: door, of: configuration)
    let router = Router(context: ServerRequestContext.self)
    router.add(
        middleware: CORSMiddleware(
            origins: configuration.access.origins, paths: endpoints.sharedPaths(at: door)))
    router.add(
        middleware: RequestMiddleware(
            routes: RouteTable(routes), observability: endpoints.operation.observability,
            proxies: TrustedProxies(networks: configuration.clientLimits.trustedProxies), logger: logger,
            instrument: instrument))
    for route in routes {
        for method in route.methods {
            router.on(RouterPath(route.path), method: method) { try await route.respond($0, $1) }
        }
    }
    return router
}

/// Connections that the kernel keeps until they are accepted.
private let listenBacklog = 1024
