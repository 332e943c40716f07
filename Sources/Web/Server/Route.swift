import HTTPCaching
import HTTPTypes
import Hummingbird
import NIOCore

/// A path, the methods it takes, and who answers.
struct Route: Sendable {
    let path: String
    let methods: [HTTPRequest.Method]
    let respond: @Sendable (Request) async throws(Problem) -> Response

    init(
        _ path: String, _ methods: [HTTPRequest.Method] = [.get, .head],
        respond: @escaping @Sendable (Request) async throws(Problem) -> Response
    ) {
        self.path = path
        self.methods = methods
        self.respond = respond
    }
}

extension Route {
    /// Everything there is.
    static func all(_ image: ImageEndpoint, _ purge: PurgeEndpoint, _ operation: OperationEndpoint) -> [Route] {
        [
            Route("/image") { request throws(Problem) in try await image.respond(to: request) },
            Route("/info") { [info = image.info] request throws(Problem) in try await info.respond(to: request) },
            Route("/cache", [.delete]) { request throws(Problem) in try await purge.respond(to: request) },
            Route("/cache") { request throws(Problem) in try operation.caches(for: request) },
            Route("/metrics") { request throws(Problem) in try operation.metrics(for: request) },
            Route("/openapi.yaml") { _ in contract },
            Route("/health/live") { _ in operation.liveness() },
            Route("/health/ready") { _ throws(Problem) in try operation.readiness() },
        ]
    }

    /// The document that the tests hold against the grammar and the routes.
    private static let contract = Response(
        status: .ok,
        headers: [
            .contentType: "application/yaml", .cacheControl: CacheControl(.anyone(maxAge: .seconds(3_600))).description,
            .xContentTypeOptions: "nosniff",
        ],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: PackageResources.openapi_yaml)))
}
