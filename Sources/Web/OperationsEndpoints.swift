import DarkroomHTTPServer
import Hummingbird
import NIOCore

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

    /// The route of a listener without administration, if another listener has the metrics.
    static let metricsElsewhere = Route("/metrics") { _, _ throws(Problem) in
        throw Problem(.noSuchRoute, "Metrics are at /metrics of the admin port, which the setting 'admin-port' names.")
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
