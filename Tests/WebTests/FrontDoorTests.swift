import DarkroomNetwork
import DarkroomOrigin
import DarkroomPipeline
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Testing

@testable import DarkroomWeb

struct FrontDoorTests {
    private let site = TestSite { _ in .stub() }

    private func problem(_ response: Response) async throws -> Problem.Document {
        #expect(response.headers[.contentType] == "application/problem+json")
        #expect(response.headers[.requestID] == "request-7")
        return try JSONDecoder().decode(Problem.Document.self, from: Data(try await response.text().utf8))
    }

    @Test func `an unknown path is a problem`() async throws {
        let document = try await problem(site.respond("/nowhere?w=1"))
        #expect(document.status == 404)
        #expect(document.type == "/problems/no-such-route")
        #expect(document.instance == "urn:request:request-7")
    }

    @Test(arguments: ["7", "a.B_c-9", String(repeating: "x", count: 128)])
    func `a sane id of the client's is the request's, in the answer, the problem and the log`(id: String) async throws {
        let log = LogRecorder()
        let site = TestSite(logger: log.logger)
        let response = try await site.respond("/nowhere", fields: [.requestID: id])
        #expect(response.headers[.requestID] == id)
        let document = try JSONDecoder().decode(Problem.Document.self, from: Data(try await response.text().utf8))
        #expect(document.instance == "urn:request:\(id)")
        #expect(log.lines.map { $0.metadata["request-id"] } == [id])
    }

    @Test(arguments: ["", " ", "a b", "ä", "a,b", "<b>", "a\"b", "%41", String(repeating: "x", count: 129)])
    func `any other id of the client's is left aside`(id: String) async throws {
        #expect(
            try await site.respond("/image?url=https://a.org/", fields: [.requestID: id]).headers[.requestID]
                == "request-7")
        var twice: HTTPFields = [.requestID: "a"]
        twice.append(HTTPField(name: .requestID, value: "b"))
        #expect(try await site.respond("/health/live", fields: twice).headers[.requestID] == "request-7")
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete, .options, .patch])
    func `a method that a path does not take is a problem that names those it takes`(method: HTTPRequest.Method)
        async throws
    {
        let response = try await site.respond("/image?url=x", method: method)
        #expect(response.headers[.allow] == "GET, HEAD")
        #expect(try await problem(response).status == 405)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .patch])
    func `the cache's path takes DELETE, GET and HEAD alone`(method: HTTPRequest.Method) async throws {
        let response = try await site.respond("/cache?all=true", method: method)
        #expect(response.status == .methodNotAllowed)
        #expect(response.headers[.allow] == "DELETE, GET, HEAD")
    }

    @Test func `an error that nobody foresaw is a problem that tells nothing and is logged`() async throws {
        struct Secret: Error {}
        let log = LogRecorder()
        let door = RequestMiddleware(routes: RouteTable([]), observability: .idle(), logger: log.logger)
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/image?url=secret")
        let response = try await door.handle(
            Request(head: head, body: RequestBody(buffer: ByteBuffer())), context: .test
        ) { _, _ in throw Secret() }
        let document = try await problem(response)
        #expect(document.status == 500)
        #expect(!document.detail.contains("Secret"))
        #expect(
            log.lines.contains { $0.message == "unexpected error" && $0.metadata["error"]?.contains("Secret") == true })
    }

    @Test func `a request is one line in the log, without its query`() async throws {
        let log = LogRecorder()
        let site = TestSite(logger: log.logger) { _ in .stub() }
        _ = try await site.respond("/image?url=https://example.com/?token=secret")
        let line = try #require(log.lines.first)
        #expect(log.lines.count == 1)
        #expect(line.metadata["method"] == "GET")
        #expect(line.metadata["path"] == "/image")
        #expect(line.metadata["status"] == "200")
        #expect(line.metadata["bytes"] == "5")
        #expect(line.metadata["cache"] == "darkroom;hit;ttl=3510;detail=memory")
        #expect(line.metadata["request-id"] == "request-7")
        #expect(line.metadata["client"] == "192.0.2.7")
        #expect(line.metadata["duration-ms"].flatMap(Double.init) != nil)
        #expect(!line.metadata.values.contains { $0.contains("secret") })
    }

    @Test func `behind a trusted proxy the log has the client's own address, and an untrusted one is not believed`()
        async throws
    {
        for (network, client) in [("192.0.2.0/24", "2001:db8::7"), ("10.0.0.0/8", "192.0.2.7")] {
            let log = LogRecorder()
            var configuration = WebConfiguration.test(token: nil)
            configuration.clientLimits.trustedProxies = [try CIDR(parsing: network)]
            let name = try #require(HTTPField.Name("X-Forwarded-For"))
            let site = TestSite(configuration: configuration, logger: log.logger)
            _ = try await site.respond("/health/live", fields: [name: "2001:db8::7"])
            #expect(log.lines.first?.metadata["client"] == client)
        }
    }

    @Test func `a long path is cut off in the log`() async throws {
        let log = LogRecorder()
        _ = try await TestSite(logger: log.logger).respond("/" + String(repeating: "ä", count: 10_000))
        #expect(try #require(log.lines.first?.metadata["path"]).utf8.count < 300)
    }

    @Test(arguments: ["/health/live", "/health/ready"])
    func `health is one word of JSON`(path: String) async throws {
        let response = try await site.respond(path)
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "application/json")
        #expect(try await response.text() == #"{"status":"ok"}"#)
    }
}
