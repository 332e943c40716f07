import DarkroomNetwork
import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import DarkroomHTTPServer

struct SiteTests {
    private let listener = ListenerConfiguration.test()

    private func problem(_ response: Response) async throws -> Problem.Document {
        #expect(response.headers[.contentType] == "application/problem+json")
        #expect(response.headers[.requestID] == "request-7")
        return try JSONDecoder().decode(Problem.Document.self, from: Data(try await response.text().utf8))
    }

    @Test func `An unknown path is a problem`() async throws {
        let document = try await problem(listener.respond("/nowhere?w=1"))
        #expect(document.status == 404)
        #expect(document.type == "/problems/no-such-route")
        #expect(document.instance == "urn:request:request-7")
    }

    @Test(arguments: ["7", "a.B_c-9", String(repeating: "x", count: 128)])
    func `A valid id of the client is the request's id in the response, the problem and the log`(id: String)
        async throws
    {
        let log = AccessLogRecorder()
        let listener = ListenerConfiguration.test(log: log)
        let response = try await listener.respond("/nowhere", fields: [.requestID: id])
        #expect(response.headers[.requestID] == id)
        let document = try JSONDecoder().decode(Problem.Document.self, from: Data(try await response.text().utf8))
        #expect(document.instance == "urn:request:\(id)")
        #expect(log.entries.map(\.requestID) == [id])
    }

    @Test(arguments: ["", " ", "a b", "ä", "a,b", "<b>", "a\"b", "%41", String(repeating: "x", count: 129)])
    func `An invalid id of the client is ignored`(id: String) async throws {
        #expect(try await listener.respond("/item", fields: [.requestID: id]).headers[.requestID] == "request-7")
        var twice: HTTPFields = [.requestID: "a"]
        twice.append(HTTPField(name: .requestID, value: "b"))
        #expect(try await listener.respond("/ok", fields: twice).headers[.requestID] == "request-7")
    }

    @Test func `Requests get different ids of 32 digits, of which half belong to the process`() {
        let ids = (0..<100).map { _ in RequestHead.newRequestID() }
        #expect(Set(ids).count == 100)
        #expect(Set(ids.map { $0.prefix(16) }).count == 1)
        #expect(ids.allSatisfy { $0.utf8.count == 32 && $0.allSatisfy(\.isHexDigit) })
        let numbers = ids.compactMap { UInt64($0.suffix(16), radix: 16) }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 < $1 || $1 < 100_000 })
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete, .options, .patch])
    func `An unsupported method is a problem that lists the supported ones`(method: HTTPRequest.Method)
        async throws
    {
        let response = try await listener.respond("/item?x", method: method)
        #expect(response.headers[.allow] == "GET, HEAD")
        #expect(try await problem(response).status == 405)
    }

    @Test func `Routes of one path add up to its methods`() async throws {
        var listener = listener
        listener.routes.append(Route("/item", [.delete]) { _, _ in .item() })
        let response = try await listener.respond("/item", method: .put)
        #expect(response.status == .methodNotAllowed)
        #expect(response.headers[.allow] == "GET, HEAD, DELETE")
    }

    @Test func `A request is one entry in the log, without its query`() async throws {
        let log = AccessLogRecorder()
        let listener = ListenerConfiguration.test(log: log) { _ in
            var response = Response.item()
            response.headers[.cacheStatus] = "darkroom;hit"
            return response
        }
        _ = try await listener.respond("/item?url=https://example.com/?token=secret")
        let entry = try #require(log.entries.first)
        #expect(log.entries.count == 1)
        #expect(entry.method == "GET")
        #expect(entry.path == "/item")
        #expect(entry.status == 200)
        #expect(entry.bytes == 5)
        #expect(entry.cacheStatus == "darkroom;hit")
        #expect(entry.requestID == "request-7")
        #expect(entry.client == IPAddress("192.0.2.7"))
        #expect(entry.duration > .zero)
        #expect(!entry.isDisconnected)
        #expect(!"\(entry)".contains("secret"))
    }

    @Test func `A request whose client has disconnected says so`() async throws {
        let log = AccessLogRecorder()
        let listener = ListenerConfiguration.test(log: log) { _ in
            withUnsafeCurrentTask { $0?.cancel() }
            return .item()
        }
        _ = try await Task { try await listener.respond("/item") }.value
        #expect(log.entries.map(\.isDisconnected) == [true])
    }

    @Test func `The log has the client's address behind a trusted proxy, and ignores an untrusted one`() async throws {
        for (network, client) in [("192.0.2.0/24", "2001:db8::7"), ("10.0.0.0/8", "192.0.2.7")] {
            let log = AccessLogRecorder()
            let listener = ListenerConfiguration.test(proxies: [try CIDR(parsing: network)], log: log)
            _ = try await listener.respond("/ok", fields: [.xForwardedFor: "2001:db8::7"])
            #expect(log.entries.map(\.client) == [IPAddress(client)])
        }
    }

    @Test func `Long paths are truncated in the log, and secret ones redacted`() async throws {
        let log = AccessLogRecorder()
        let listener = ListenerConfiguration.test(log: log)
        _ = try await listener.respond("/" + String(repeating: "ä", count: 10_000))
        #expect(try #require(log.entries.first).path.utf8.count < 300)
        for path in ["/signed/k1.abc/dXJs", "//signed/a/b", "/signed//a/b", "///signed///a"] {
            _ = try await listener.respond(path)
            #expect(log.entries.last?.path == "/signed/…", "\(path)")
        }
        _ = try await listener.respond("//ok")
        #expect(log.entries.last?.path == "//ok")
    }
}
