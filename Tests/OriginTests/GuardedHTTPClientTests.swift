import DarkroomTestOrigin
import Foundation
import HTTPTypes
import NIOCore
import NIOPosix
import Testing

@testable import DarkroomNetwork
@testable import DarkroomOrigin

struct GuardedHTTPClientTests {
    @Test func `A download brings body, status, fields and times`() async throws {
        let before = Date()
        try await withOrigin { _ in
            [.respond(fields: ["ETag: \"a\"", "Set-X: 1", "Set-X: 2"])]
        } _: { client, origin async throws in
            let response = try await client.fetch(origin.url("/picture.jpg?size=1"))
            #expect(String(buffer: response.body) == "picture")
            #expect(response.status == .ok)
            #expect(response.headers[.eTag] == "\"a\"")
            #expect(response.headers[values: HTTPField.Name("Set-X")!] == ["1", "2"])
            #expect(try response.url == origin.url("/picture.jpg?size=1"))
            #expect(before <= response.requestedAt && response.requestedAt <= response.receivedAt)
        }
    }

    @Test func `Requests say who asks and nothing about the client`() async throws {
        let settings = try GuardedHTTPClient.Settings.loopback {
            $0.userAgent = "darkroom/1.0"
            $0.viaPseudonym = "lab"
        }
        try await withOrigin(settings) { _ in
            [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(try SourceURL(parsing: "http://user:secret@127.0.0.1:\(origin.port)/"))
            let expected = [
                "host": "127.0.0.1:\(origin.port)", "accept": "image/*,*/*;q=0.5", "accept-encoding": "identity",
                "user-agent": "darkroom/1.0", "via": "1.1 lab",
            ]
            #expect(origin.requests.map(\.fields) == [expected])
        }
    }

    @Test(arguments: [
        ("/a.svg", "gzip, br"), ("/A.SVG?v=1", "gzip, br"), ("/svg", "identity"), ("/a?b=.svg", "identity"),
    ])
    func `Compression is requested for drawings`(target: String, codings: String) async throws {
        try await withOrigin { _ in
            [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url(target))
            #expect(origin.requests.first?.fields["accept-encoding"] == codings)
        }
    }

    @Test func `Extra fields are sent unless they are the fetcher's own`() async throws {
        let extra: HTTPFields = [
            .authorization: "Bearer x", .userAgent: "custom", HTTPField.Name(parsed: "Host") ?? .te: "evil",
            .acceptEncoding: "gzip",
            .range: "bytes=0-1",
            .connection: "close", .via: "1.1 other",
        ]
        try await withOrigin { _ in
            [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url(), headers: extra)
            let fields = try #require(origin.requests.first?.fields)
            #expect(fields["authorization"] == "Bearer x")
            #expect(fields["user-agent"] == "custom")
            #expect(fields["host"] == "127.0.0.1:\(origin.port)")
            #expect(fields["accept-encoding"] == "identity")
            #expect(fields["via"] == "1.1 darkroom")
            #expect(fields["range"] == nil && fields["connection"] == nil)
        }
    }

    @Test(
        "what goes over the wire is the canonical request target",
        arguments: [
            "/", "/a//b/", "/%41%zz", "/a|b[c]{d}^`", "/ü/b c", "/;x=1,2@:!$&'()*+~", "/?", "/?a=[1]&b='x'|%&c=?/",
            "?q", "/%2F..%2f",
            "/a/../b", "/\u{1}", "/%E2%82%AC", "/a:b@c",
        ])
    func wireTarget(target: String) async throws {
        try await withOrigin { _ in
            [.respond()]
        } _: { client, origin async throws in
            let url = try origin.url(target)
            _ = try await client.fetch(url)
            #expect(origin.requests.map(\.target) == [url.requestTarget])
        }
    }

    @Test func `Connections are kept alive and used again`() async throws {
        try await withOrigin { _ in
            [.respond()]
        } _: { client, origin async throws in
            for _ in 0..<5 { _ = try await client.fetch(origin.url()) }
            #expect(origin.requests.map(\.connection) == [0, 0, 0, 0, 0])
        }
    }

    @Test func `A chunked body without length arrives whole`() async throws {
        let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n3\r\nefg\r\n0\r\n\r\n"
        try await withOrigin { _ in
            [.send(chunked)]
        } _: { client, origin async throws in
            #expect(try await String(buffer: client.fetch(origin.url()).body) == "abcdefg")
        }
    }

    @Test func `A body that the end of the connection ends arrives whole`() async throws {
        try await withOrigin { _ in
            [.send("HTTP/1.0 200 OK\r\n\r\nabc"), .send("def"), .close]
        } _: { client, origin async throws in
            #expect(try await String(buffer: client.fetch(origin.url()).body) == "abcdef")
        }
    }

    @Test func `An announced length over the limit is refused before the body`() async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.maxSourceBytes = 10 }
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n"
        try await withOrigin(settings) { _ in
            [.send(head), .stall]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .tooLarge(limitBytes: 10))
        }
    }

    @Test(arguments: [(10, nil), (11, OriginError.tooLarge(limitBytes: 10))])
    func `Bodies are counted as they arrive`(bytes: Int, expected: OriginError?) async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.maxSourceBytes = 10 }
        let chunks = (0..<bytes).map { _ in TestOrigin.Step.send("1\r\nx\r\n") }
        let head = TestOrigin.Step.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
        try await withOrigin(settings) { _ in
            [head] + chunks + [.send("0\r\n\r\n")]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == expected)
        }
    }

    @Test func `An endless body is broken off at the limit`() async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.maxSourceBytes = 1 << 20 }
        let chunk = "10000\r\n" + String(repeating: "x", count: 0x10000) + "\r\n"
        try await withOrigin(settings) { _ in
            [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"), .sendForever(chunk)]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .tooLarge(limitBytes: 1 << 20))
            for await _ in origin.hangUps { break }
        }
    }

    @Test func `A length that promises too little yields that much and ends the connection`() async throws {
        let lie = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"
        try await withOrigin {
            $0.index == 0 ? [.send(lie)] : [.respond()]
        } _: { client, origin async throws in
            #expect(try await String(buffer: client.fetch(origin.url()).body) == "abc")
            #expect(try await String(buffer: client.fetch(origin.url()).body) == "picture")
        }
    }

    @Test func `A length that promises too much is a broken transfer`() async throws {
        let lie = "HTTP/1.1 200 OK\r\nContent-Length: 1000000000\r\n\r\nabcdef"
        let settings = try GuardedHTTPClient.Settings.loopback { $0.maxSourceBytes = 2_000_000_000 }
        try await withOrigin(settings) { _ in
            [.send(lie), .close]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .unreachable(.incomplete))
            #expect(origin.requests.count == 1)
        }
    }

    @Test(
        "answers that are no original are refused for their reason",
        arguments: [
            (.respond("404 Not Found"), .notFound(404)), (.respond("410 Gone"), .notFound(410)),
            (.respond("201 Created"), nil), (.respond("203 Changed"), nil),
            (.respond("204 No Content", body: ""), .unexpectedStatus(204)),
            (.respond("206 Partial Content"), nil), (.respond("299 Odd"), nil),
            (.respond("202 Accepted"), nil),
            (.respond("300 Choices"), .unexpectedStatus(300)), (.notModified(), .unexpectedStatus(304)),
            (.respond("403 Forbidden"), .unexpectedStatus(403)), (.respond("500 Oh"), .unexpectedStatus(500)),
            (.respond("508 Loop"), .loop),
            (.respond(fields: ["Content-Encoding: gzip"]), .unacceptableEncoding),
            (.respond(fields: ["Content-Encoding: identity"]), nil), (.respond(body: ""), .emptyBody),
            (.respond(fields: ["X: " + String(repeating: "x", count: 70_000)]), .unreachable(.malformed)),
            (.send("SSH-2.0-OpenSSH\r\n\r\n"), .unreachable(.malformed)),
            (.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"), .unreachable(.malformed)),
        ] as [(TestOrigin.Step, OriginError?)])
    func refusals(step: TestOrigin.Step, expected: OriginError?) async throws {
        try await withOrigin { _ in
            [step]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url())?.bare == expected)
        }
    }

    @Test func `A refusal says for how long it may be remembered, and nothing else`() async throws {
        let before = Date()
        let kept: HTTPFields = [
            .cacheControl: "max-age=5", .retryAfter: "7", .age: "1", .date: "x", .expires: "0", .eTag: "\"e\"",
            .lastModified: "y",
        ]
        let fields =
            kept.map { "\($0.name): \($0.value)" } + ["CDN-Cache-Control: no-store", "Set-Cookie: a=b", "X: y"]
        try await withOrigin { _ in
            [.respond("503 Busy", fields: fields)]
        } _: { client, origin async throws in
            guard case .unexpectedStatus(let refusal) = try await client.failure(of: origin.url()) else {
                Issue.record("no refusal")
                return
            }
            #expect(refusal.status == 503)
            #expect(
                refusal.headers == kept + [HTTPField(name: HTTPField.Name("CDN-Cache-Control")!, value: "no-store")])
            #expect(before <= refusal.requestedAt && refusal.requestedAt <= refusal.receivedAt)
        }
    }

    @Test func `A refusal keeps no more than two kilobytes of fields`() {
        let long = String(repeating: "x", count: UnusableResponse.maxFieldBytes)
        let refusal = UnusableResponse(
            status: 404, headers: [.cacheControl: long, .retryAfter: "7"], requestedAt: .now, receivedAt: .now)
        #expect(refusal.headers == [.retryAfter: "7"])
    }

    @Test func `After shutdown every fetch is cancelled`() async throws {
        try await withOrigin { _ in
            [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url())
            await client.shutdown()
            #expect(try await client.failure(of: origin.url()) == .cancelled)
        }
    }

    @Test func `A local URL is none of its business`() async throws {
        try await withOrigin { _ in
            []
        } _: { client, _ async throws in
            let url = try SourceURL(parsing: "local:///a")
            #expect(await client.failure(of: url) == .invalidURL(.unsupportedScheme("local")))
        }
    }
}
