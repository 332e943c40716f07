import DarkroomHTTPCaching
import HTTPTypes
import Hummingbird
import NIOCore

/// What whoever runs the server asks of it: its metrics, its caches and its health.
struct OperationEndpoint: Sendable {
    let instruments: Instruments

    var adminRoutes: [Route] {
        [
            Route("/cache") { _, _ in .json(instruments.caches()) },
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
            body: ResponseBody(byteBuffer: ByteBuffer(string: instruments.exposition())))
    }

    /// `GET /health/live`: the process answers.
    func liveness() -> Response { .json(Health()) }

    /// `GET /health/ready`: new requests may be sent here.
    func readiness() throws(Problem) -> Response {
        guard !instruments.traffic.isDraining else { throw .goingDown }
        guard !instruments.traffic.isStarting else { throw .starting }
        guard instruments.isHealthy() else { throw .unwell }
        guard instruments.cacheWorks() else { throw .cacheUnavailable }
        return .json(Health())
    }

    private struct Health: Encodable {
        let status = "ok"
    }

    /// The media type of Prometheus' text format.
    static let textFormat = "text/plain; version=0.0.4; charset=utf-8"
}
