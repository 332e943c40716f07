package import DarkroomHTTPServer
package import DarkroomLoading
package import DarkroomPipeline
import DarkroomQuery
package import Logging
package import NIOCore
import Tracing

/// A port of the server.
package enum Listener: Hashable, Sendable {
    /// Serves images, and administration too unless there is an admin listener.
    case main
    /// Serves administration only.
    case admin
}

/// The listeners of a server, whose configuration may change while connections stay open.
package struct Listeners: Sendable {
    package let services: [(listener: Listener, service: ListenerService)]
    private let configure: @Sendable (WebConfiguration) -> (Listener) -> ListenerConfiguration

    /// Creates a service for each listener of the configuration.
    ///
    /// - Parameters:
    ///   - prefetcher: runs the jobs of `/prefetch`. Event streams end with its jobs, so shut it down before the
    ///     listeners.
    ///   - tellEdges: sends purges to the caches in front of the server; nil = there are none.
    ///   - logger: takes events other than entries of the access log.
    ///   - onListening: called for each listener with its channel, whose local address has the port.
    package init(
        configuration: WebConfiguration, pipeline: ImagePipeline, prefetcher: Prefetcher, observability: Observability,
        tellEdges: EdgeTelling? = nil, logger: Logger,
        onListening: @escaping @Sendable (Listener, any Channel) async -> Void
    ) {
        let observers = observability.observers(logger: logger)
        let rateLimiter = RateLimiter()
        configure = { configuration in
            var endpoints = Endpoints(configuration, pipeline, prefetcher, observability, rateLimiter: rateLimiter)
            endpoints.image.refusalOfUpload = pipeline.refusalOfUpload
            endpoints.purge.tellEdges = tellEdges
            return { [endpoints] in endpoints.configuration(of: $0, configuration, observers: observers) }
        }
        let configured = configure(configuration)
        services = configuration.listeners.map { listener in
            (listener, ListenerService(configured(listener)) { await onListening(listener, $0) })
        }
    }

    /// Answers later requests by another configuration. Known targets are forgotten. The buckets of the rate limit, the
    /// addresses, the base path, trusted proxies and the limits of connections stay.
    package func answer(by configuration: WebConfiguration) {
        let configured = configure(configuration)
        for (listener, service) in services { service.answer(by: configured(listener)) }
    }
}

extension WebConfiguration {
    var listeners: [Listener] { adminAddress == nil ? [.main] : [.main, .admin] }
}

extension Observability {
    /// - Parameter instrument: extracts the trace of each request from its header fields.
    func observers(
        logger: Logger, instrument: any Instrument = InstrumentationSystem.instrument
    ) -> RequestObservers {
        RequestObservers(
            metrics: RequestMetrics(metrics, kinds: ProblemKind.all, mainRoute: ImageEndpoint.path), state: serverState,
            // The rest of these paths is, or begins with, what other paths have in their query.
            log: AccessLog(
                redactedPrefixes: [SignedPath.prefix, IIIFPath.prefix], logsHits: logsHits, isEnabled: logsRequests,
                write: logRequest),
            logger: logger, instrument: instrument, tracing: tracing)
    }
}
