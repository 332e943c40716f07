import HTTPCaching
import HTTPTypes
import Hummingbird
import NIOCore

/// What whoever runs the server asks of it: its metrics and caches, which take the admin token, and its health.
struct OperationEndpoint: Sendable {
    let instruments: Instruments
    private let token: AdminToken?

    /// - Parameter token: nil = nobody sees metrics and caches.
    init(_ instruments: Instruments, token: String?) {
        self.instruments = instruments
        self.token = token.map(AdminToken.init)
    }

    var routes: [Route] {
        [
            Route("/cache") { request, _ throws(Problem) in try caches(for: request) },
            Route("/metrics") { request, _ throws(Problem) in try metrics(for: request) },
            Route("/health/live") { _, _ in liveness() },
            Route("/health/ready") { _, _ throws(Problem) in try readiness() },
        ]
    }

    /// `GET /metrics`.
    func metrics(for request: Request) throws(Problem) -> Response {
        try token.require(in: request.headers)
        return Response(
            status: .ok,
            headers: [
                .contentType: Self.textFormat, .cacheControl: CacheControl.noStore.description,
                .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: ByteBuffer(string: instruments.exposition())))
    }

    /// `GET /cache`.
    func caches(for request: Request) throws(Problem) -> Response {
        try token.require(in: request.headers)
        return .json(instruments.caches())
    }

    /// `GET /health/live`: the process answers.
    func liveness() -> Response { .json(Health()) }

    /// `GET /health/ready`: new requests may be sent here.
    func readiness() throws(Problem) -> Response {
        guard !instruments.traffic.isDraining else { throw .goingDown }
        guard instruments.isWell() else { throw .unwell }
        return .json(Health())
    }

    private struct Health: Encodable {
        let status = "ok"
    }

    /// The media type of Prometheus' text format.
    static let textFormat = "text/plain; version=0.0.4; charset=utf-8"
}
