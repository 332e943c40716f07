import DarkroomNetwork
import DarkroomTestOrigin
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomOrigin

struct ConditionalRequestTests {
    private static let validators: HTTPFields = [
        .ifNoneMatch: "\"a\"", .ifModifiedSince: "Sun, 06 Nov 1994 08:49:37 GMT",
    ]

    @Test func `An original that is still right is not sent again, and its connection stays good`() async throws {
        try await withOrigin { _ in
            [.notModified(fields: ["ETag: \"a\"", "Cache-Control: max-age=60", "Content-Length: 7"])]
        } _: { client, origin async throws in
            for _ in 0..<3 {
                let response = try await client.revalidate(
                    origin.url("/?x=1"), Self.validators, of: origin.url("/?x=1"))
                #expect(response.isNotModified && response.status == .notModified)
                #expect(response.body.readableBytes == 0)
                #expect(response.headers[.cacheControl] == "max-age=60")
                #expect(try response.url == origin.url("/?x=1"))
            }
            #expect(origin.requests.map(\.connection) == [0, 0, 0])
            let fields = try #require(origin.requests.first?.fields)
            #expect(fields["if-none-match"] == "\"a\"")
            #expect(fields["if-modified-since"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        }
    }

    @Test func `An original that changed comes whole`() async throws {
        try await withOrigin { _ in
            [.respond(fields: ["ETag: \"b\""])]
        } _: { client, origin async throws in
            let response = try await client.revalidate(origin.url(), of: origin.url())
            #expect(!response.isNotModified && String(buffer: response.body) == "picture")
        }
    }

    @Test func `Bytes after a 304 on its connection have no effect`() async throws {
        // One write: bytes that come after the next request are a response to it.
        let both = "HTTP/1.1 304 Not Modified\r\n\r\nHTTP/1.1 200 OK\r\n\r\nevil"
        try await withOrigin {
            $0.fields["if-none-match"] == nil ? [.respond()] : [.send(both)]
        } _: { client, origin async throws in
            #expect(try await client.revalidate(origin.url(), of: origin.url()).isNotModified)
            #expect(try await String(buffer: client.fetch(origin.url()).body) == "picture")
        }
    }

    @Test func `Validators are sent to the URL that they belong to and to no other`() async throws {
        try await withOrigin { _ in
            [.respond()]
        } _: { client, origin async throws in
            for other in [nil, try origin.url("/b"), try origin.url("/a?"), try origin.url("/a", host: "other.test")] {
                _ = try await client.revalidate(origin.url("/a"), Self.validators, of: other)
            }
            #expect(origin.requests.allSatisfy { $0.fields["if-none-match"] == nil })
            #expect(origin.requests.allSatisfy { $0.fields["if-modified-since"] == nil })
        }
    }

    @Test func `A 304 that was not asked for is refused, whatever fields the caller added`() async throws {
        try await withOrigin { _ in
            [.notModified()]
        } _: { client, origin async throws in
            let headers: HTTPFields = [.ifNoneMatch: "\"a\"", .ifModifiedSince: "x", .ifRange: "\"a\"", .ifMatch: "*"]
            let request = OriginRequest(
                url: try origin.url(), headers: headers, validators: [.range: "bytes=0-1"],
                validatedURL: try origin.url().canonical)
            await #expect(throws: OriginError.self) { try await client.fetch(request) }
            #expect(try await client.failure(of: origin.url())?.bare == .unexpectedStatus(304))
            let fields = try #require(origin.requests.first?.fields)
            #expect(Set(fields.keys) == ["host", "accept", "accept-encoding", "user-agent", "via"])
        }
    }

    @Test func `Validators find their URL behind redirects, also to other origins`() async throws {
        let nameLookup = ScriptedNameLookup(["other.test": [["127.0.0.1"]]])
        try await withOrigin(nameLookup: nameLookup) { request in
            let port = request.fields["host"]?.split(separator: ":").last ?? ""
            return switch request.target {
            case "/a": [.redirect(to: "/b")]
            case "/b": [.redirect(to: "http://other.test:\(port)/c")]
            default: [.notModified()]
            }
        } _: { client, origin async throws in
            let end = try origin.url("/c", host: "other.test")
            let response = try await client.revalidate(origin.url("/a"), of: end)
            #expect(response.isNotModified && response.url == end)
            #expect(origin.requests.map { $0.fields["if-none-match"] } == [nil, nil, "\"a\""])
        }
    }

    @Test func `Validators do not follow a redirect away from their URL`() async throws {
        try await withOrigin {
            $0.target == "/a" ? [.redirect(to: "/b")] : [.notModified()]
        } _: { client, origin async throws in
            let url = try origin.url("/a")
            await #expect(throws: OriginError.self) { try await client.revalidate(url, of: url) }
            #expect(origin.requests.map { $0.fields["if-none-match"] } == ["\"a\"", nil])
        }
    }

    @Test func `A response knows the fields that may have chosen it`() async throws {
        let nameLookup = ScriptedNameLookup(["other.test": [["127.0.0.1"]]])
        try await withOrigin(nameLookup: nameLookup) { request in
            let port = request.fields["host"]?.split(separator: ":").last ?? ""
            return request.target == "/" ? [.respond()] : [.redirect(to: "http://other.test:\(port)/")]
        } _: { client, origin async throws in
            var request = OriginRequest(
                url: try origin.url(), headers: [.accept: "image/webp", .authorization: "x", .via: "1.1 me"],
                validators: Self.validators, validatedURL: try origin.url().canonical)
            let own: HTTPFields = [.userAgent: "darkroom", .acceptEncoding: "identity"]
            #expect(
                try await client.fetch(request).sentFields == own + [
                    HTTPField(name: .accept, value: "image/webp"), HTTPField(name: .authorization, value: "x"),
                ])
            request.url = try origin.url("/away")
            #expect(
                try await client.fetch(request).sentFields == own + [
                    HTTPField(name: .accept, value: "image/*,*/*;q=0.5")
                ])
        }
    }
}
