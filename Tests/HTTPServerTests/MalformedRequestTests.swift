import Foundation
import Testing

@testable import DarkroomHTTPServer

/// Bytes that are not a request, or look like two.
@Suite(.timeLimit(.minutes(5)))
struct MalformedRequestTests {
    private static let next = "GET /ok HTTP/1.1\r\nHost: x\r\n\r\n"

    /// The server's responses to these bytes until it closes the connection.
    private func answers(to text: String, routes: [Route] = []) async throws -> [String] {
        let (answers, report) = AsyncStream<String>.makeStream()
        try await withServer(routes: routes) { address in
            let client = try await WireClient.connected(to: address)
            client.trySending(text)
            report.yield(await client.receivedAll())
        }
        return try #require(await answers.first { _ in true }).components(separatedBy: "HTTP/1.1 ").dropFirst().map {
            $0
        }
    }

    @Test(arguments: [
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: +1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0x10\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999999\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nContent-Length: 40\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0, 0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n",
        "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX: a\r\n b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX : a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nX: a\rY: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
        "GET / HTTP/1.1\r\nX: y\r\n\r\n",
        "GET / HTTP/1.1\r\n\u{e4}: y\r\nHost: x\r\n\r\n",
        "GET /\r\n\r\n",
        "GET / HTTP/3.7\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: x\r\n\r\n",
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        "G@T / HTTP/1.1\r\nHost: x\r\n\r\n",
        "\u{16}\u{3}\u{1}\u{2}\0\u{1}\0",
    ])
    func `Malformed and ambiguous requests get one response, and the connection closes`(text: String)
        async throws
    {
        let answers = try await answers(to: text + Self.next)
        #expect(answers.count == 1)
        let answer = try #require(answers.first)
        #expect(answer.hasPrefix("400 Bad Request\r\n"), "\(answer.prefix(80))")
        #expect(answer.contains("application/problem+json"))
        #expect(answer.contains("/problems/malformed-request"))
        #expect(answer.contains("Connection: close\r\n"))
        #expect(answer.contains("\r\nDate: ") && answer.contains("\r\nX-Request-Id: "))
    }

    @Test(arguments: [(true, "cross-origin"), (false, "same-origin")])
    func `A malformed request is answered as one of another site if the listener has anything for other sites`(
        isEmbeddable: Bool, policy: String
    ) async throws {
        let route = Route("/picture", isEmbeddable: isEmbeddable, runsOnEventLoop: true) { _, _ in .item() }
        let answer = try #require(try await answers(to: "nonsense\r\n\r\n", routes: [route]).first)
        #expect(answer.contains("Cross-Origin-Resource-Policy: \(policy)\r\n"))
        #expect(answer.contains("Content-Security-Policy: default-src 'none'; sandbox\r\n"))
    }

    @Test(arguments: ["/gr\u{fc}n.jpg", "/item?url=http://a.org/\u{fc}.jpg", "/a\u{1}"])
    func `A target with bytes that are not percent-encoded is refused with that reason`(target: String) async throws {
        let answer = try #require(try await answers(to: "GET \(target) HTTP/1.1\r\nHost: x\r\n\r\n").first)
        #expect(answer.contains("percent-encode"), "\(answer)")
    }

    @Test func `Requests before a malformed one are answered first`() async throws {
        let answers = try await answers(to: Self.next + Self.next + "nonsense\r\n\r\n" + Self.next)
        #expect(answers.map { $0.prefix(3) } == ["200", "200", "400"])
    }

    @Test(arguments: [
        ("GET /\(String(repeating: "a", count: 70_000)) HTTP/1.1\r\nHost: x\r\n\r\n", "414", "target-too-long"),
        (
            "GET /item?url=\(String(repeating: "a", count: 40_000)) HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
            "414", "target-too-long"
        ),
        ("GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 70_000))\r\n\r\n", "431", "head-too-large"),
        (
            "GET / HTTP/1.1\r\nHost: x\r\n"
                + String(repeating: "X: \(String(repeating: "a", count: 9_000))\r\n", count: 10) + "\r\n", "431",
            "head-too-large"
        ),
        ("GET / HTTP/1.1\r\nHost: x\r\n" + String(repeating: "X: a\r\n", count: 200) + "\r\n", "431", "head-too-large"),
        // More than socket buffers hold: the response arrives although the request never does.
        ("GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 4 << 20))\r\n\r\n", "431", "head-too-large"),
    ])
    func `A head that is too large is refused with a problem`(text: String, status: String, kind: String) async throws {
        let answers = try await answers(to: text)
        #expect(answers.count == 1)
        #expect(answers.first?.hasPrefix(status) == true, "\(answers.first?.prefix(80) ?? "")")
        #expect(answers.first?.contains("/problems/\(kind)") == true)
    }

    /// RFC 9112 §7.1.1: extensions are ignored; §2.2: a line may end in LF alone. Neither makes two requests of one.
    @Test(arguments: [
        ("GET /ok HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3;a=\"b\"\r\nabc\r\n0\r\n\r\n", 2),
        (
            "GET /ok HTTP/1.1\r\nHost: x\r\nContent-Length: 34\r\n\r\nGET /ok HTTP/1.1\r\nHost: smuggled\r\n\r\n",
            2
        ),
        ("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", 2), ("TRACE / HTTP/1.1\r\nHost: x\r\n\r\n", 2),
        ("GET http://elsewhere.example/ok HTTP/1.1\r\nHost: x\r\n\r\n", 2),
        ("CONNECT a.org:443 HTTP/1.1\r\nHost: a.org\r\n\r\n", 1),
        (
            "GET /ok HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                + "HTTP2-Settings: a\r\n\r\n",
            1
        ),
        ("GET /ok HTTP/1.1\r\nHost: x\r\nConnection: Close\r\n\r\n", 1),
        ("GET /ok HTTP/1.0\r\n\r\n", 1),
        ("GET /ok HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", 2),
    ])
    func `Each request gets one response, and the connection closes when nothing can follow`(text: String, count: Int)
        async throws
    {
        let last = "GET /ok HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
        let answers = try await answers(to: text + last)
        #expect(answers.count == count)
        #expect(answers.allSatisfy { ["200", "404", "405"].contains($0.prefix(3)) })
        #expect(answers.last?.lowercased().contains("connection: close") == true)
    }

    @Test(arguments: ["zz\r\n", "3\r\nabcX\r\n", "-1\r\n", "FFFFFFFFFFFFFFFFFF\r\n"])
    func `A malformed body closes the connection after its response`(chunk: String) async throws {
        let head =
            "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n"
        let answers = try await answers(to: head + chunk + Self.next)
        #expect(answers.count == 1)
        #expect(answers.first?.hasPrefix("400") == true)
        #expect(answers.first?.contains("/problems/") == true)
    }

    @Test func `Ten thousand pipelined requests are answered in order or not at all`() async throws {
        let text = (0..<10_000).map { "GET /ok HTTP/1.1\r\nHost: x\r\nX-Request-Id: \($0)\r\n\r\n" }.joined()
        let answers = try await answers(to: text)
        #expect(answers.count >= ConnectionLimits.maxPipelinedRequests && answers.count < 10_000)
        for (number, answer) in answers.enumerated() {
            #expect(answer.hasPrefix("200") && answer.contains("X-Request-Id: \(number)\r\n"))
        }
        #expect(answers.last?.lowercased().contains("connection: close") == true)
    }
}
