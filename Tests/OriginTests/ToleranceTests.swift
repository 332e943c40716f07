import DarkroomTestOrigin
import HTTPTypes
import NIOCore
import NIOPosix
import Testing

@testable import DarkroomOrigin

private let ok = "HTTP/1.1 200 OK\r\n"

/// Responses of old and misconfigured servers, which browsers read.
@Suite(.timeLimit(.minutes(5)))
struct ToleranceTests {
    @Test(
        "a response that browsers read is read, and its connection is not used again",
        arguments: [
            ok + "Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n7\r\npicture\r\n0\r\n\r\n",
            ok + "Content-Length: 7\r\nContent-Length: 7\r\n\r\npicture", ok + "Content-Length: 7, 7\r\n\r\npicture",
            "HTTP/1.1 200 OK\nContent-Length: 7\n\npicture", ok + "Content-Length : 7\r\n\r\npicture",
            ok + "Content Type: x\r\nContent-Length: 7\r\n\r\npicture",
            ok + "nothing\r\nContent-Length: 7\r\n\r\npicture",
            ok + "X: a\r\n b\r\nContent-Length: 7\r\n\r\npicture", ok + "X: \u{1}\r\nContent-Length: 7\r\n\r\npicture",
            ok + "Transfer-Encoding: identity\r\nContent-Length: 7\r\n\r\npicture",
        ])
    func repaired(response: String) async throws {
        try await withOrigin {
            $0.index == 0 ? [.send(response)] : [.respond(body: "other")]
        } _: { client, origin async throws in
            #expect(try await String(buffer: client.fetch(origin.url()).body) == "picture")
            #expect(try await String(buffer: client.fetch(origin.url()).body) == "other")
            #expect(origin.requests.map(\.connection) == [0, 1])
        }
    }

    @Test func `What follows a response never reaches another request`() async throws {
        let injected = ok + "Content-Length: 8\r\n\r\ninjected"
        try await withOrigin { request in
            request.target == "/evil" ? [.send(ok + "Content-Length: 4\r\n\r\nevil" + injected)] : [.respond()]
        } _: { client, origin async throws in
            for _ in 0..<20 {
                #expect(try await String(buffer: client.fetch(origin.url("/evil")).body) == "evil")
                #expect(try await String(buffer: client.fetch(origin.url("/good")).body) == "picture")
            }
        }
    }

    @Test(
        "a part is an original unless its range says that bytes are missing",
        arguments: [
            ("bytes 0-6/7", nil), ("bytes 0-5/7", .unexpectedStatus(206)), ("bytes 0-6/8", .unexpectedStatus(206)),
            ("bytes 1-7/7", .unexpectedStatus(206)), ("bytes 1-7/*", .unexpectedStatus(206)),
            ("bytes 0-6/*", nil), ("bytes */7", nil), ("nothing", nil), ("", nil),
        ] as [(String, OriginError?)])
    func range(range: String, expected: OriginError?) async throws {
        try await withOrigin { _ in
            [.respond("206 Partial Content", fields: ["Content-Range: \(range)"])]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url())?.bare == expected)
            guard expected == nil else { return }
            #expect(try await client.fetch(origin.url()).status == .ok)
        }
    }

    @Test(
        "what is cut off is incomplete, and what contradicts itself is malformed",
        arguments: [
            (ok + "Transfer-Encoding: chunked\r\n\r\n7\r\npicture\r\n", .unreachable(.incomplete)),
            (ok + "Content-Length: 8\r\n\r\npicture", .unreachable(.incomplete)),
            (ok + "Content-Length: 7\r\nContent-Length: 8\r\n\r\npicture", .unreachable(.malformed)),
            (ok + "X: \u{0}\r\nContent-Length: 7\r\n\r\npicture", .unreachable(.malformed)),
            (ok + "Content-Length: 7\r\n", .unreachable(.malformed)),
        ] as [(String, OriginError)])
    func refused(response: String, expected: OriginError) async throws {
        try await withOrigin { _ in
            [.send(response), .close]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == expected)
        }
    }

    @Test func `A location keeps bytes that are not UTF-8`() async throws {
        var redirect = ByteBuffer(string: "HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: /caf")
        redirect.writeInteger(UInt8(0xe9))
        redirect.writeString(".jpg\r\n\r\n")
        try await withOrigin { [redirect] in
            $0.target == "/" ? [.sendBytes(redirect)] : [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url())
            #expect(origin.requests.map(\.target) == ["/", "/caf%E9.jpg"])
        }
    }

    @Test(
        "of several locations all must be equal",
        arguments: [("/a", nil), ("/b", OriginError.badRedirect(.invalidLocation))])
    func locations(second: String, expected: OriginError?) async throws {
        try await withOrigin {
            $0.target == "/" ? [.respond("302 Found", fields: ["Location: /a", "Location: \(second)"])] : [.respond()]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == expected)
        }
    }

    @Test(
        "TLS that ends without a close is the end of a body without a length only",
        arguments: [
            (ok + "\r\npicture", nil), (ok + "Content-Length: 8\r\n\r\npicture", OriginError.unreachable(.incomplete)),
            (ok + "Transfer-Encoding: chunked\r\n\r\n7\r\npicture\r\n", .unreachable(.incomplete)),
        ])
    func uncleanTLS(response: String, expected: OriginError?) async throws {
        let settings = try GuardedHTTPClient.Settings.loopback { $0.insecureTLSHosts = ["trusted.test"] }
        let nameLookup = ScriptedNameLookup(["trusted.test": [["127.0.0.1"]]])
        try await withOrigin(settings, nameLookup: nameLookup, tls: true) { _ in
            [.send(response), .cut]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url(host: "trusted.test", scheme: "https")) == expected)
        }
    }

    @Test(
        "an origin that makes work without sending an image is cut off",
        arguments: [
            "HTTP/1.1 100 Continue\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n",
        ])
    func interimFlood(response: String) async throws {
        try await withOrigin(patient()) { _ in
            [.sendForever(response)]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .unreachable(.malformed))
            for await _ in origin.hangUps { break }
        }
    }

    @Test(
        "chunks of one byte, and extensions without end, are cut off",
        arguments: [
            "1\r\nx\r\n", "1;" + String(repeating: "x", count: 1000),
            "1" + String(repeating: " ", count: 9000) + "\r\nx\r\n",
        ])
    func chunkFlood(chunk: String) async throws {
        try await withOrigin(patient()) { _ in
            [.send(ok + "Transfer-Encoding: chunked\r\n\r\n"), .sendForever(chunk)]
        } _: { client, origin async throws in
            #expect(try await client.failure(of: origin.url()) == .unreachable(.malformed))
            for await _ in origin.hangUps { break }
        }
    }

    /// A flood is cut off for its content, however long a busy machine takes to read it.
    private func patient() throws -> GuardedHTTPClient.Settings { try .loopback { $0.downloadTimeout = .seconds(240) } }
}
