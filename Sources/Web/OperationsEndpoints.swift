import DarkroomHTTPServer
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /health/live` and `GET /health/ready`: liveness and readiness probes. `GET /health` is the latter too, for
/// balancers that expect a probe at this path.
struct HealthEndpoint: Sendable {
    let observability: Observability

    var routes: [Route] {
        [
            // The process responds, which is all that liveness means.
            Route("/health/live") { _, _ in .json(Health()) },
            readiness("/health/ready"),
            readiness("/health"),
        ]
    }

    private func readiness(_ path: String) -> Route {
        Route(path) { _, _ throws(Problem) in
            if let problem = observability.unreadiness { throw problem }
            return .json(Health())
        }
    }

    private struct Health: Encodable {
        let status = "ok"
    }
}

/// `GET /metrics`: all metrics in Prometheus text format.
struct MetricsEndpoint: Sendable {
    let exposition: @Sendable () -> String

    var routes: [Route] {
        let route = Route("/metrics") { _, _ in
            Response(
                status: .ok,
                headers: [
                    .contentType: "text/plain; version=0.0.4; charset=utf-8", .cacheControl: "no-store",
                    .xContentTypeOptions: "nosniff",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: exposition())))
        }
        return [route]
    }

    /// The route of a listener without administration, if another listener has it.
    static let routeElsewhere = Route("/metrics") { _, _ throws(Problem) in
        throw Problem(.noSuchRoute, "Metrics are at /metrics of the admin port, which the setting 'admin-port' names.")
    }
}

/// `GET /robots.txt` (RFC 9309): what crawlers may fetch.
struct RobotsEndpoint: Sendable {
    /// Whether crawlers may fetch images; nothing at all otherwise.
    let allowsRobots: Bool

    var routes: [Route] {
        let text = "User-agent: *\nDisallow: \(allowsRobots ? "" : "/")\n"
        let route = Route("/robots.txt") { _, _ in
            Response(
                status: .ok,
                headers: [
                    .contentType: "text/plain; charset=utf-8", .cacheControl: "public, max-age=3600",
                    .xContentTypeOptions: "nosniff",
                ],
                body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
        }
        return [route]
    }
}
