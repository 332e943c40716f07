import DarkroomHTTPCaching
import HTTPTypes
import Hummingbird
import NIOCore

/// The document that describes every route, held against the code by the tests.
enum Contract {
    static var routes: [Route] {
        [
            Route("/openapi.yaml") { _, _ in yaml },
            Route("/openapi.json") { _, _ throws(Problem) in
                guard let json else { throw .internalError }
                return json
            },
        ]
    }

    private static let yaml = response(ByteBuffer(bytes: PackageResources.openapi_yaml), type: "application/yaml")

    /// Made when it is asked for first; nil = the document is broken, which the tests would have told.
    private static let json = (try? ContractJSON.document(from: PackageResources.openapi_yaml)).map {
        response($0, type: "application/json")
    }

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
