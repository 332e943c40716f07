import DarkroomHTTPCaching
import HTTPTypes
import Hummingbird
import NIOCore

/// What whoever runs the server asks of it: its metrics, its caches and its health.
struct OperationEndpoint: Sendable {
    let observability: Observability

    var adminRoutes: [Route] {
        [
            Route("/cache") { _, _ in .json(observability.caches()) },
            Route("/metrics") { _, _ in metrics() },
        ]
    }

    var healthRoutes: [Route] {
        [
            Route("/health/live") { _, _ in liveness() },
            Route("/health/ready") { _, _ throws(Problem) in try readiness() },
        ]
    }

    /// `GET /metrics`.
    func metrics() -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: Self.textFormat, .cacheControl: CacheControl.noStore.description,
                .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: observability.exposition())))
    }

    /// `GET /health/live`: the process answers.
    func liveness() -> Response { .json(Health()) }

    /// `GET /health/ready`: new requests may be sent here.
    func readiness() throws(Problem) -> Response {
        guard !observability.serverState.isDraining else { throw .goingDown }
        guard !observability.serverState.isStarting else { throw .starting }
        guard observability.isHealthy() else { throw .unwell }
        guard observability.cacheWorks() else { throw .cacheUnavailable }
        return .json(Health())
    }

    private struct Health: Encodable {
        let status = "ok"
    }

    /// The media type of Prometheus' text format.
    static let textFormat = "text/plain; version=0.0.4; charset=utf-8"
}
