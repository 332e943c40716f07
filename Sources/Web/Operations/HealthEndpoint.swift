import DarkroomHTTPServer
import Hummingbird

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
