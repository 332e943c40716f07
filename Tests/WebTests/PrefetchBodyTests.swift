import DarkroomHTTPServer
import DarkroomLoading
import DarkroomPipeline
import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import DarkroomWeb

struct PrefetchBodyTests {
    private static let token = "correct-horse-battery"

    private func problem(_ body: String, type: String? = "application/json") async throws -> Problem.Document? {
        let prefetcher = Prefetcher.held
        defer { prefetcher.shutdown() }
        var fields: HTTPFields = [.authorization: "Bearer \(Self.token)"]
        fields[.contentType] = type
        let site = TestSite(configuration: .test(token: Self.token), prefetch: PrefetchEndpoint(prefetcher: prefetcher))
        let response = try await site.respond("/prefetch", method: .post, fields: fields, body: body)
        guard response.status != .accepted else { return nil }
        #expect(prefetcher.jobs.isEmpty)
        return try JSONDecoder().decode(Problem.Document.self, from: Data(try await response.text().utf8))
    }

    @Test(arguments: [
        (#"{"urls":["https://a.org/"]}"#), (#"{"urls":["local:///a"],"queries":[""]}"#),
        (#"{"urls":["http://a.org/"],"widths":[1,8192]}"#),
        (#" { "queries" : [ "w=1&filename=a.jpg" ],"urls":["http://a.org/"]}"#),
        (#"{"urls":["http://a.org/"],"queries":["default=https%3A%2F%2Fa.org%2F&cache=reload&priority=high"]}"#),
        (#"{"urls":["http://a.org/"],"widths":[3.0]}"#),
    ])
    func `Bodies that the contract describes are accepted`(body: String) async throws {
        #expect(try await problem(body) == nil)
    }

    @Test(arguments: [
        ("", nil), ("{", nil), ("[]", nil), ("3", nil), ("null", nil), ("\"urls\"", nil), (#"{"urls":["a]}"#, nil),
        ("{}", "urls"), (#"{"widths":[1]}"#, "urls"), (#"{"urls":null}"#, "urls"),
        (#"{"urls":"https://a.org/"}"#, "urls"),
        (#"{"urls":{}}"#, "urls"), (#"{"urls":[]}"#, "urls"), (#"{"urls":["https://a.org/",3]}"#, "urls[1]"),
        (#"{"urls":[["https://a.org/"]]}"#, "urls[0]"), (#"{"urls":[null]}"#, "urls[0]"),
        (#"{"urls":["a"]}"#, "urls[0]"),
        (#"{"urls":["https://a.org/","ftp://a.org/"]}"#, "urls[1]"),
        (#"{"urls":["https://a.org/"],"queries":[]}"#, "queries"),
        (#"{"urls":["https://a.org/"],"queries":null}"#, "queries"),
        (#"{"urls":["https://a.org/"],"queries":"w=1"}"#, "queries"),
        (#"{"urls":["https://a.org/"],"queries":["w=1","w=0"]}"#, "queries[1]"),
        (#"{"urls":["https://a.org/"],"queries":["w=1","width=1"]}"#, "queries[1]"),
        (#"{"urls":["https://a.org/"],"queries":["url=https://b.org/"]}"#, "queries[0]"),
        (#"{"urls":["https://a.org/"],"queries":["w=%zz"]}"#, "queries[0]"),
        (#"{"urls":["https://a.org/"],"queries":["default=ftp://a.org/"]}"#, "queries[0]"),
        (#"{"urls":["https://a.org/"],"queries":["priority=background"]}"#, "queries[0]"),
        (#"{"urls":["https://a.org/"],"widths":[]}"#, "widths"),
        (#"{"urls":["https://a.org/"],"widths":[1,0]}"#, "widths[1]"),
        (#"{"urls":["https://a.org/"],"widths":[-1]}"#, "widths[0]"),
        (#"{"urls":["https://a.org/"],"widths":[1.5]}"#, "widths[0]"),
        (#"{"urls":["https://a.org/"],"widths":["1"]}"#, "widths[0]"),
        (#"{"urls":["https://a.org/"],"widths":[true]}"#, "widths[0]"),
        (#"{"urls":["https://a.org/"],"widths":[99999999999999999999]}"#, "widths[0]"),
        (#"{"urls":["https://a.org/"],"width":[1]}"#, "width"),
        (#"{"urls":["https://a.org/"],"URLs":[]}"#, "URLs"),
    ])
    func `An invalid body starts no job, and the problem names the member`(body: String, member: String?)
        async throws
    {
        let problem = try await problem(body)
        #expect(problem?.type == "/problems/invalid-body", "\(body)")
        #expect(problem?.status == 400)
        #expect(problem?.parameter == member, "\(body)")
        #expect(problem?.detail.hasSuffix(".") == true || problem?.detail.hasSuffix("?") == true)
    }

    @Test func `A misspelled member gets a suggestion, and a long one is truncated`() async throws {
        let body = #"{"urls":["https://a.org/"],"width":[1]}"#
        #expect(try await problem(body)?.detail == "There is no member 'width'. Did you mean 'widths'?")
        let long = try await problem(#"{"\#(String(repeating: "x", count: 5_000))":1}"#)
        #expect(long?.parameter?.count == 101)
        #expect(long?.detail.count ?? 0 < 200)
    }

    @Test func `The number of images is checked before any of them`() async throws {
        let urls = Array(repeating: #""a""#, count: 5_001).joined(separator: ",")
        let problem = try await problem(#"{"urls":[\#(urls)],"widths":[1,2]}"#)
        #expect(problem?.parameter == "urls")
        #expect(problem?.detail.hasPrefix("A job must have at most 10000 images, got 10002") == true)
    }

    @Test(arguments: ["application/json; charset=utf-8", "Application/JSON", "application/json ;a=b"])
    func `The media type of the body is case-insensitive and may have parameters`(type: String) async throws {
        #expect(try await problem(#"{"urls":["https://a.org/"]}"#, type: type) == nil)
    }

    @Test(arguments: [nil, "", "text/plain", "application/x-www-form-urlencoded", "application/json-seq", "json"])
    func `A body of another media type is refused unread`(type: String?) async throws {
        let problem = try await problem(#"{"urls":["https://a.org/"]}"#, type: type)
        #expect(problem?.status == 415)
        #expect(problem?.type == "/problems/unsupported-body")
    }

    @Test func `A body of more than 1 MiB is refused`() async throws {
        let fitting = #"{"urls":["https://a.org/"]}"#
        let padding = String(repeating: " ", count: 1 << 20)
        #expect(try await problem(fitting + padding.dropLast(fitting.utf8.count)) == nil)
        let problem = try await problem(fitting + padding)
        #expect(problem?.status == 413)
        #expect(problem?.type == "/problems/body-too-large")
    }
}
