import HTTPCaching
import HTTPTypes
import Hummingbird
import NIOCore

/// The document that describes every route, held against the code by the tests.
enum Contract {
    static var routes: [Route] { [Route("/openapi.yaml") { _, _ in yaml }] }

    private static let yaml = Response(
        status: .ok,
        headers: [
            .contentType: "application/yaml", .cacheControl: CacheControl(.anyone(maxAge: .seconds(3_600))).description,
            .xContentTypeOptions: "nosniff",
        ],
        body: ResponseBody(byteBuffer: ByteBuffer(bytes: PackageResources.openapi_yaml)))
}
