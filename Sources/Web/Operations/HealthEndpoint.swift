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
            try requireReady()
            return .json(Health())
        }
    }

    /// Throws a problem unless the server should receive new requests.
    private func requireReady() throws(Problem) {
        guard !observability.serverState.isDraining else { throw .shuttingDown }
        guard !observability.serverState.isStarting else { throw .starting }
        guard observability.isHealthy() else { throw .notHealthy }
        guard observability.isCacheHealthy() else { throw .cacheUnavailable }
    }

    private struct Health: Encodable {
        let status = "ok"
    }
}
