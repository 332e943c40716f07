package import Hummingbird
import HummingbirdCore
package import Logging
package import NIOCore
package import Tracing

/// One listener: its bind address, routes, limits and observers.
package struct ListenerConfiguration: Sendable {
    /// The bind address: a host name or an IP address.
    package var host: String
    /// The port; 0 = any free port.
    package var port: Int
    /// The path of a Unix socket to bind instead of host and port; nil = none.
    package var unixSocket: String?
    package var routes: [Route]
    /// Middleware outside of ``RequestMiddleware``, such as CORS: it sees complete responses, including problem
    /// documents.
    package var middleware: [any MiddlewareProtocol<Request, Response, ServerRequestContext>]
    package var limits: ConnectionLimits
    package var proxies: TrustedProxies
    package var observers: RequestObservers
    /// Answer requests in front of the routes.
    package var fastResponders: [any FastResponder]

    package init(
        host: String, port: Int, unixSocket: String? = nil, routes: [Route],
        middleware: [any MiddlewareProtocol<Request, Response, ServerRequestContext>] = [],
        limits: ConnectionLimits = ConnectionLimits(), proxies: TrustedProxies = TrustedProxies(),
        observers: RequestObservers, fastResponders: [any FastResponder] = []
    ) {
        self.host = host
        self.port = port
        self.unixSocket = unixSocket
        self.routes = routes
        self.middleware = middleware
        self.limits = limits
        self.proxies = proxies
        self.observers = observers
        self.fastResponders = fastResponders
    }

    /// The router without a socket.
    package func makeRouter() -> Router<ServerRequestContext> {
        let router = Router(context: ServerRequestContext.self)
        for middleware in middleware { router.add(middleware: middleware) }
        router.add(
            middleware: RequestMiddleware(routes: RouteTable(routes), observers: observers, proxies: proxies))
        for route in routes {
            for method in route.methods {
                router.on(RouterPath(route.path), method: method) { try await route.respond($0, $1) }
            }
        }
        return router
    }

    /// The listener as a service.
    ///
    /// - Parameter onServerRunning: called with the listening channel, whose local address has the port.
    package func makeApplication(
        onServerRunning: @escaping @Sendable (any Channel) async -> Void
    ) -> some ApplicationProtocol {
        let logger = observers.logger
        let fastPath =
            fastResponders.isEmpty
            ? nil : FastPath(responders: fastResponders, observers: observers, proxies: proxies)
        return Application(
            router: makeRouter(),
            server: HTTPServerBuilder { [limits, proxies, metrics = observers.metrics] responder in
                LimitedHTTP1Channel(
                    responder: responder, limits: limits, proxies: proxies, metrics: metrics, fastPath: fastPath)
            },
            configuration: ApplicationConfiguration(
                address: unixSocket.map { .unixDomainSocket(path: $0) } ?? .hostname(host, port: port),
                serverName: Self.serverName, backlog: Self.backlog,
                availableConnectionsDelegate: .maximum(limits.maxConnections, logger: logger)),
            onServerRunning: onServerRunning, logger: logger)
    }

    /// The value of `Server`.
    static let serverName = "darkroom"
    /// The number of connections that the kernel queues until they are accepted.
    private static let backlog = 1024
}

/// What observes the requests of all listeners: metrics, the count of in-flight requests, the access log, the logger of
/// everything else and the trace instrument.
package struct RequestObservers: Sendable {
    package let metrics: RequestMetrics
    let state: ServerState
    let log: AccessLog
    let logger: Logger
    let instrument: any Instrument

    /// - Parameter instrument: extracts the trace of each request from its header fields.
    package init(
        metrics: RequestMetrics, state: ServerState, log: AccessLog, logger: Logger,
        instrument: any Instrument = InstrumentationSystem.instrument
    ) {
        self.metrics = metrics
        self.state = state
        self.log = log
        self.logger = logger
        self.instrument = instrument
    }
}
