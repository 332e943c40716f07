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
    static func all(_ image: ImageEndpoint, _ purge: PurgeEndpoint) -> [Route] {
        [
            Route("/image") { request throws(Problem) in try await image.respond(to: request) },
            Route("/cache", [.delete]) { request throws(Problem) in try await purge.respond(to: request) },
            Route("/openapi.yaml") { _ in contract },
            Route("/health/live") { _ in health },
            Route("/health/ready") { _ in health },
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

    private static let health = Response(
        status: .ok,
        headers: [
            .contentType: "application/json", .cacheControl: CacheControl.noStore.description,
            .xContentTypeOptions: "nosniff",
        ],
        body: ResponseBody(byteBuffer: ByteBuffer(string: #"{"status":"ok"}"#)))
}
