import DarkroomOrigin
import DarkroomPipeline
import DarkroomTestOrigin
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import Testing

@testable import DarkroomExamples

/// A Hummingbird app with the example's middleware and a route of its own.
@Suite(.timeLimit(.minutes(5)))
struct ImageMiddlewareTests {
    @Test func `An app answers images next to its own routes`() async throws {
        try await withImage { origin in
            let app = try app()
            let response = try await answer(app, "/image?url=http%3A%2F%2F127.0.0.1%3A\(origin.port)%2Fphoto.jpg&w=320")
            #expect(response.status == .ok)
            #expect(response.headers[.contentType] == "image/webp")
            #expect(response.headers[.cacheControl]?.hasPrefix("public, max-age=60") == true)
            #expect(try await answer(app, "/hello").status == .ok)
            #expect(try await answer(app, "/nothing").status == .notFound)
        }
    }

    @Test func `A client that has the image receives 304`() async throws {
        try await withImage { origin in
            let app = try app()
            let target = "/image?url=http%3A%2F%2F127.0.0.1%3A\(origin.port)%2Fphoto.jpg&w=320"
            let tag = try #require(try await answer(app, target).headers[.eTag])
            let response = try await answer(app, target, [.ifNoneMatch: tag])
            #expect(response.status == .notModified)
            #expect(response.headers[.eTag] == tag)
            #expect(origin.requests.count == 1)
        }
    }

    @Test(arguments: [
        ("/image?w=320", HTTPResponse.Status.badRequest),
        ("/image?url=http%3A%2F%2Fexample.com%2Fphoto.jpg&w=321", .badRequest),
        ("/image?url=photo.jpg&w=320", .badRequest),
        ("/image?url=http%3A%2F%2F192.168.0.1%2Fphoto.jpg&w=320", .forbidden),
    ])
    func `What cannot be answered has the fitting status`(target: String, status: HTTPResponse.Status) async throws {
        #expect(try await answer(app(), target).status == status)
    }

    @Test func `The example's routes have images of one site only`() async throws {
        let target = "/image?url=http%3A%2F%2Fexample.org%2Fphoto.jpg&w=320"
        #expect(try await answer(routes().buildResponder(), target).status == .forbidden)
    }

    private func app() throws -> some HTTPResponder<BasicRequestContext> {
        let router = Router()
        router.add(middleware: ImageMiddleware(pipeline: ImagePipeline(downloads: try .loopback)))
        router.get("hello") { _, _ in "Hello" }
        return router.buildResponder()
    }

    /// The app's response, also to a request that it throws an error for.
    private func answer(
        _ app: some HTTPResponder<BasicRequestContext>, _ target: String, _ fields: HTTPFields = [:]
    ) async throws -> Response {
        let head = HTTPRequest(method: .get, scheme: nil, authority: nil, path: target, headerFields: fields)
        let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
        let source = ApplicationRequestContextSource(channel: EmbeddedChannel(), logger: Logger(label: "example"))
        let context = BasicRequestContext(source: source)
        do {
            return try await app.respond(to: request, context: context)
        } catch let error as any HTTPResponseError {
            return try error.response(from: request, context: context)
        }
    }
}
