import DarkroomHTTPCaching
import DarkroomHTTPServer
import HTTPTypes
import Hummingbird
import NIOCore

/// `GET /openapi.yaml`, `GET /openapi.json` and `GET /reference`: the OpenAPI document, which tests compare with the
/// code.
enum ContractEndpoint {
    static var routes: [Route] {
        [
            Route("/openapi.yaml") { _, _ in yaml },
            Route("/openapi.json") { _, _ throws(Problem) in
                guard let json else { throw .internalError }
                return json
            },
            Route("/reference") { _, _ throws(Problem) in
                guard let reference else { throw .internalError }
                return reference
            },
        ]
    }

    private static let yaml = response(ByteBuffer(bytes: PackageResources.openapi_yaml), type: "application/yaml")

    /// Converted on first use; nil only if the document were malformed, which tests rule out.
    private static let json = (try? ContractJSON.document(from: PackageResources.openapi_yaml)).map {
        response($0, type: "application/json")
    }

    /// Made on first use, like ``json``.
    private static let reference = (try? ReferencePage(yaml: PackageResources.openapi_yaml))?.page.response

    private static func response(_ body: ByteBuffer, type: String) -> Response {
        Response(
            status: .ok,
            headers: [
                .contentType: type, .cacheControl: CacheControl(.public(maxAge: .seconds(3_600))).description,
                .xContentTypeOptions: "nosniff",
            ],
            body: ResponseBody(byteBuffer: body))
    }
}
