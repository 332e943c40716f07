import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Synchronization
import Transforms

@testable import Pipeline
@testable import Web

extension Response {
    /// The body, as it goes out.
    func bytes() async throws -> ByteBuffer {
        let sink = BodySink()
        try await body.write(sink)
        return sink.bytes.withLock { $0 }
    }

    func text() async throws -> String { String(buffer: try await bytes()) }
}

private final class BodySink: ResponseBodyWriter, Sendable {
    let bytes = Mutex(ByteBuffer())

    func write(_ buffer: ByteBuffer) {
        bytes.withLock { _ = $0.writeImmutableBuffer(buffer) }
    }

    func finish(_ trailingHeaders: HTTPFields?) {}
}

extension ImageResponse {
    static let fetchedAt = Date(timeIntervalSince1970: 784_111_777)

    /// A picture of five bytes that was fetched at a known time.
    static func stub(
        cache: CacheReport = CacheReport(variant: .memory), lastModified: Date? = nil, body: String = "bytes"
    ) -> ImageResponse {
        ImageResponse(
            body: ByteBuffer(string: body), format: .webp, digest: String(repeating: "0123456789abcdef", count: 4),
            lastModified: lastModified, fetchedAt: fetchedAt, cache: cache,
            timings: Timings(fetch: .microseconds(31_250), process: .milliseconds(12), total: .microseconds(44_007)))
    }
}

extension Logger {
    /// Says nothing.
    static let quiet = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension WebContext {
    static let test = WebContext(logger: .quiet, requestID: "request-7")
}

/// A site whose pictures come from a closure, 90 seconds after their sources were fetched.
struct TestSite {
    let responder: RouterResponder<WebContext>

    init(
        configuration: WebConfiguration = WebConfiguration(viaPseudonym: "us"),
        logger: Logger = .quiet,
        picture: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse
    ) {
        let endpoint = ImageEndpoint(
            configuration: configuration, picture: picture, now: { ImageResponse.fetchedAt.addingTimeInterval(90) })
        responder = makeRouter(Route.all(endpoint), logger: logger).buildResponder()
    }

    func respond(
        _ target: String, method: HTTPRequest.Method = .get, fields: HTTPFields = [:]
    ) async throws -> Response {
        let head = HTTPRequest(
            method: method, scheme: "http", authority: "localhost", path: target, headerFields: fields)
        return try await responder.respond(
            to: Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: .test)
    }
}
