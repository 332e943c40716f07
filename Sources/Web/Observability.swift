package import CoreMetrics
package import DarkroomHTTPServer
import Hummingbird
import NIOCore

/// The server's view of itself: the metrics that it records, and the state that operators can query.
package struct Observability: Sendable {
    /// Takes the metrics of requests and images; see ``help``.
    package var metrics: any MetricsFactory
    /// The current metrics in Prometheus text format 0.0.4, for each request to `/metrics`. It may read small files.
    package var exposition: @Sendable () -> String = { "" }
    /// The current state of each cache, for each `GET /cache`.
    package var caches: @Sendable () -> CacheTiers
    /// Whether the disk cache, if any, can be read and written, as far as is known. Called for each request to
    /// `/health/ready`, so it can also drive recovery.
    package var isCacheHealthy: @Sendable () -> Bool
    /// The in-flight requests, and whether the server is starting or draining.
    package var serverState: ServerState
    /// Whether images can be processed. Called for each request to `/health/ready`.
    package var isHealthy: @Sendable () -> Bool = { true }
    /// Takes the access log's entry of each request, without blocking; nil = requests are not logged.
    package var logRequest: (@Sendable (AccessLogEntry) -> Void)?
    /// Whether requests are logged at the moment.
    package var logsRequests: @Sendable () -> Bool = { true }
    /// Whether hits are logged too.
    package var logsHits = true
    /// Records spans of requests; nil = none are recorded.
    package var tracing: RequestTracing?

    package init(
        metrics: any MetricsFactory, serverState: ServerState,
        caches: @escaping @Sendable () -> CacheTiers, isCacheHealthy: @escaping @Sendable () -> Bool
    ) {
        self.metrics = metrics
        self.serverState = serverState
        self.caches = caches
        self.isCacheHealthy = isCacheHealthy
    }

    /// Whether the server should receive new requests.
    package var isReady: Bool { unreadiness == nil }

    /// Why the server should not receive new requests; nil if it should.
    var unreadiness: Problem? {
        if serverState.isDraining { return .shuttingDown }
        if serverState.isStarting { return .starting }
        if !isHealthy() { return .notHealthy }
        return isCacheHealthy() ? nil : .cacheUnavailable
    }

    /// The help text of each metric recorded here, by its name.
    package static let help = RequestMetrics.help.merging(ImageMetrics.help) { first, _ in first }
}

extension Route {
    /// `GET /health/live`: the process responds, which is all that liveness means.
    static let liveness = Route("/health/live") { _, _ in .json(["status": "ok"]) }

    /// `GET /health/ready`: whether the server should receive requests. `GET /health` is the same, for balancers that
    /// expect a probe at this path.
    static func readiness(_ path: String, _ observability: Observability) -> Route {
        Route(path) { _, _ throws(Problem) in
            if let problem = observability.unreadiness { throw problem }
            return .json(["status": "ok"])
        }
    }

    /// `GET /metrics`: all metrics in Prometheus text format.
    static func metrics(_ exposition: @escaping @Sendable () -> String) -> Route {
        Route("/metrics") { _, _ in
            Response(ByteBuffer(string: exposition()), type: "text/plain; version=0.0.4; charset=utf-8")
        }
    }

    /// `GET /robots.txt` (RFC 9309): whether crawlers may fetch everything, or nothing.
    static func robots(areAllowed: Bool) -> Route {
        let text = ByteBuffer(string: "User-agent: *\nDisallow: \(areAllowed ? "" : "/")\n")
        return Route("/robots.txt") { _, _ in
            Response(text, type: "text/plain; charset=utf-8", cacheControl: "public, max-age=3600")
        }
    }

    /// `GET /cache`: the state of each cache.
    static func caches(_ caches: @escaping @Sendable () -> CacheTiers) -> Route {
        Route("/cache") { _, _ in .json(caches()) }
    }
}
