import DarkroomNetwork
import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import Synchronization
import Testing

@testable import DarkroomHTTPServer

/// Answers requests at once, and keeps what it was asked.
private final class StubResponder: ImmediateResponder {
    private let asked = Mutex<[RequestHead]>([])
    private let body: String?
    private let status: Int
    private let path: String

    /// - Parameters:
    ///   - path: the beginning of the targets that it answers.
    ///   - body: nil = `fast` and the query, or else the path, in parentheses.
    init(_ path: String = "/", body: String? = nil, status: Int = 200) {
        self.path = path
        self.body = body
        self.status = status
    }

    var requests: [RequestHead] { asked.withLock(\.self) }

    func answer(to head: RequestHead) -> Answer? {
        guard head.target.hasPrefix(path) else { return nil }
        asked.withLock { $0.append(head) }
        let query = head.target.split(separator: "?").last ?? ""
        return .now(Reply(body ?? "fast(\(query))", status: status))
    }
}

/// Which requests are answered in front of the framework.
@Suite(.timeLimit(.minutes(5)))
struct AnswerHandlerTests {
    private static func ask(_ target: String, method: String = "GET", _ fields: String = "") -> String {
        "\(method) \(target) HTTP/1.1\r\nHost: x\r\n\(fields)\r\n"
    }

    /// All that the server sends back for a text, and for one more request that closes the connection.
    private func answer(
        _ text: String, _ responder: StubResponder = StubResponder(), proxies: [CIDR] = [],
        log: AccessLogRecorder = AccessLogRecorder()
    ) async throws -> String {
        let answer = Mutex("")
        try await withServer(proxies: proxies, log: log, immediate: responder) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send(text + Self.ask("/end", "Connection: close\r\n"))
            let all = await client.receivedAll()
            answer.withLock { $0 = all }
        }
        return answer.withLock(\.self)
    }

    @Test func `A response has the encoded head, its own fields and the body`() async throws {
        let answer = try await answer(Self.ask("/fast", "X-Request-Id: 7\r\n"))
        let expected = [
            "HTTP/1.1 200 OK", "Cache-Status: darkroom;hit;ttl=5;detail=memory", "Content-Length: 11",
            "X-Content-Type-Options: nosniff",
            "Content-Security-Policy: default-src 'none'; sandbox", "Cross-Origin-Resource-Policy: same-origin",
            "Referrer-Policy: no-referrer", "Server: darkroom", "Server-Timing: total;dur=",
        ].joined(separator: "\r\n")
        #expect(answer.lowercased().hasPrefix(expected.lowercased()))
        #expect(answer.contains(/\r\nDate: [^\r]+ GMT\r\nX-Request-Id: 7\r\n\r\nfast\(\/fast\)HTTP\/1\.1/))
    }

    @Test func `A response to HEAD, and one without content, has no body`() async throws {
        let head = try await answer(Self.ask("/fast", method: "HEAD"))
        #expect(head.contains("Content-Length: 11\r\n"))
        #expect(!head.contains("fast("))
        let notModified = try await answer(Self.ask("/fast"), StubResponder(body: "", status: 304))
        #expect(notModified.hasPrefix("HTTP/1.1 304 Not Modified\r\n"))
    }

    @Test(arguments: [
        "GET /item HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        ask("/item", "Connection: upgrade\r\n"), ask("/item", "Content-Length: 0\r\n"),
        ask("/item", "Transfer-Encoding: chunked\r\n") + "0\r\n\r\n", ask("/item", "Expect: 100-continue\r\n"),
        ask("/item", "Cache-Control: max-age=0\r\n"), ask("/item", "pragma: no-cache\r\n"),
        ask("/item", "AUTHORIZATION: Bearer x\r\n"), ask("/item", "Accept: a/b\r\nAccept: c/d\r\n"),
        ask("/item", "If-None-Match: \"a\"\r\nif-none-match: \"b\"\r\n"), ask("http://x/item"),
        ask("/item", "ECT: 3g\r\n"), ask("/item", "RTT: 200\r\n"), ask("/item", "Downlink: 1.5\r\n"),
    ])
    func `A request that is not plain is left to the framework`(text: String) async throws {
        let responder = StubResponder()
        let answer = try await answer(text, responder)
        #expect(answer.contains("bytes"))
        #expect(responder.requests.isEmpty)
    }

    @Test(arguments: [
        ("http://a.org/b//c?d=e", "/b//c?d=e"), ("https://a.org?d=/e", "/?d=/e"), ("http://a.org", "/"),
        ("/b?url=http://c/d", "/b?url=http://c/d"), ("*", "*"),
    ])
    func `A target in absolute form is read as its path and query`(target: String, expected: String) {
        let head = RequestHead(HTTPRequestHead(version: .http1_1, method: .GET, uri: target), from: nil)
        #expect(head.target == expected)
        #expect(head.path == String(expected.prefix { $0 != "?" }))
        #expect(head.isPlain == target.hasPrefix("/"))
    }

    @Test func `Fields that change no response are no obstacle`() async throws {
        let fields = [
            "User-Agent: a", "Accept: image/webp", "Accept-Encoding: gzip", "Cookie: a=b", "Range: bytes=0-1",
            "Connection: Keep-Alive", "If-None-Match: \"a\"", "If-Modified-Since: x", "Origin: https://a.org",
            "Via: 1.1 cdn", "Priority: u=1", "Save-Data: on",
        ].map { $0 + "\r\n" }.joined()
        let responder = StubResponder()
        _ = try await answer(Self.ask("/fast?a=b", fields), responder)
        let request = try #require(responder.requests.first)
        #expect(request.target == "/fast?a=b")
        #expect(request.accept == "image/webp")
        #expect(request.ifNoneMatch == "\"a\"")
        #expect(request.ifModifiedSince == "x")
        #expect(request.origin == "https://a.org")
        #expect(request.via == "1.1 cdn")
        #expect(request.clientName == "127.0.0.1")
    }

    @Test func `Each response is one entry of the access log, with the request's ids and client`() async throws {
        let log = AccessLogRecorder()
        let trace = "4bf92f3577b34da6a3ce929d0e0e4736"
        let fields = "X-Request-Id: 7\r\ntraceparent: 00-\(trace)-00f067aa0ba902b7-01\r\nX-Forwarded-For: 192.0.2.7\r\n"
        let text = Self.ask("/fast?url=secret", fields) + Self.ask("/fast", method: "HEAD", "X-Request-Id: a b\r\n")
        _ = try await answer(text, StubResponder("/fast"), proxies: [try CIDR(parsing: "127.0.0.0/8")], log: log)
        #expect(log.entries.count == 3)
        let entry = try #require(log.entries.first)
        #expect((entry.method, entry.path, entry.status, entry.bytes) == ("GET", "/fast", 200, 16))
        #expect((entry.requestID, entry.traceID) == ("7", trace))
        #expect(entry.cacheStatus == "darkroom;hit;ttl=5;detail=memory")
        #expect(entry.client == IPAddress("192.0.2.7"))
        #expect(entry.details == AccessLogDetails(["tier": .text("memory")], isHit: true) && entry.problem == nil)
        let second = log.entries[1]
        #expect((second.method, second.bytes, second.traceID) == ("HEAD", 0, nil))
        #expect(second.client == IPAddress("127.0.0.1"))
        #expect(second.requestID != "a b")
        #expect(second.requestID != log.entries[2].requestID)
    }

    @Test func `A proxy that is not trusted does not name the client`() async throws {
        let responder = StubResponder("/fast")
        _ = try await answer(Self.ask("/fast", "Forwarded: for=192.0.2.7\r\n"), responder)
        #expect(responder.requests.first?.client == IPAddress("127.0.0.1"))
    }

    @Test func `Pipelined requests are answered in their order, fast ones among them`() async throws {
        let (gates, gate) = AsyncStream<Void>.makeStream()
        try await withServer(immediate: StubResponder("/item?fast")) { request in
            if request.uri.query == "gated" { for await _ in gates { break } }
            return .item("slow(\(request.uri.query ?? ""))")
        } use: { address in
            let client = try await WireClient.connected(to: address)
            func ask(_ names: [String]) -> String { names.map { Self.ask("/item?\($0)") }.joined() }
            try await client.send(ask(["fast1", "fast2", "gated", "fast3", "fast4", "other"]))
            // What precedes the gated request is not held back.
            #expect(Self.bodies(await client.received(until: "fast2)")) == ["fast(fast1)", "fast(fast2)"])
            gate.yield()
            // What follows it waits for its response.
            var text = ""
            while !text.hasSuffix("slow(other)") {
                let more = await client.received(until: ")")
                try #require(more != "")
                text += more
            }
            #expect(Self.bodies(text) == ["slow(gated)", "fast(fast3)", "fast(fast4)", "slow(other)"])
            try await client.send(ask(["fast5"]))
            #expect(Self.bodies(await client.received(until: ")")) == ["fast(fast5)"])
            try await client.close()
        }
    }

    @Test func `A body that follows a waiting request is read after its response`() async throws {
        let (gates, gate) = AsyncStream<Void>.makeStream()
        let (started, reportStart) = AsyncStream<Void>.makeStream()
        try await withServer(immediate: StubResponder("/fast")) { _ in
            reportStart.yield()
            for await _ in gates { break }
            return .item("slow(gated)")
        } use: { address in
            let client = try await WireClient.connected(to: address)
            let upload =
                "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n"
            try await client.send(Self.ask("/item") + upload)
            await started.first { true }
            client.trySending(String(repeating: "1", count: 200_000) + Self.ask("/fast"))
            gate.yield()
            let answer = await client.received(until: "fast(/fast)")
            #expect(answer.contains(/slow\(gated\)HTTP\/1\.1 200 OK\r\n[^{]*\{"status":"ok"\}HTTP\/1\.1 200 OK/))
            try await client.close()
        }
    }

    @Test(arguments: [nil, 12] as [Int?])
    func `A body of several pieces is complete, and its connection goes on`(contentLength: Int?) async throws {
        let pieces = Route("/pieces", runsOnEventLoop: true) { _, _ in
            Response(
                status: .ok,
                body: ResponseBody(contentLength: contentLength) { writer in
                    for piece in ["abcd", "efgh", "ijkl"] { try await writer.write(ByteBuffer(string: piece)) }
                    try await writer.finish(nil)
                })
        }
        try await withServer(routes: [pieces], immediate: StubResponder("/fast")) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send(Self.ask("/pieces") + Self.ask("/fast"))
            let answer = await client.received(until: "fast(/fast)")
            let chunks = "4\r\nabcd\r\n4\r\nefgh\r\n4\r\nijkl\r\n0\r\n\r\n"
            #expect(answer.contains("\r\n\r\n\(contentLength == nil ? chunks : "abcdefghijkl")HTTP/1.1 200 OK\r\n"))
            try await client.close()
        }
    }

    @Test func `A body is read no further once its client is gone`() async throws {
        let (ends, reportEnd) = AsyncStream<Void>.makeStream()
        let endless = Route("/endless", runsOnEventLoop: true) { _, _ in
            Response(
                status: .ok,
                body: ResponseBody(contentLength: 1 << 40) { writer in
                    defer { reportEnd.yield() }
                    while true { try await writer.write(ByteBuffer(repeating: 1, count: 1 << 16)) }
                })
        }
        try await withServer(routes: [endless]) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send(Self.ask("/endless"))
            _ = await client.received(atLeast: 1 << 20)
            try await client.close()
            await ends.first { true }
        }
    }

    @Test func `A body that cannot be completed ends the connection`() async throws {
        let broken = Route("/broken", runsOnEventLoop: true) { _, _ in
            Response(
                status: .ok,
                body: ResponseBody(contentLength: 8) { writer in
                    for piece in ["abcd", "efgh"] { try await writer.write(ByteBuffer(string: piece)) }
                    throw CancellationError()
                })
        }
        try await withServer(routes: [broken]) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send(Self.ask("/broken") + Self.ask("/ok"))
            let answer = await client.receivedAll()
            #expect(answer.hasSuffix("\r\n\r\nabcd"))
        }
    }

    @Test func `A client that does not read its responses is left to the framework, which waits`() async throws {
        let responder = StubResponder("/item", body: String(repeating: "x", count: 1 << 20))
        try await withServer(immediate: responder) { address in
            let client = try await WireClient.connected(to: address, isReading: false)
            for _ in 0..<ConnectionLimits.maxPipelinedRequests { try await client.send(Self.ask("/item")) }
            let other = try await WireClient.connected(to: address)
            try await other.send(Self.ask("/ok"))
            _ = await other.received(until: "}")
            // The kernel takes some megabytes, and one response may wait in this process.
            #expect(responder.requests.count < 16)
            try await other.close()
            try await client.close()
        }
    }

    @Test func `A connection is idle after its response, and closed in time`() async throws {
        let limits = ConnectionLimits(idleTimeout: .seconds(5))
        try await withServer(limits: limits, immediate: StubResponder()) { address in
            let client = try await WireClient.connected(to: address)
            for _ in 0..<2 {
                try await client.send(Self.ask("/fast"))
                #expect(Self.bodies(await client.received(until: ")")) == ["fast(/fast)"])
            }
            #expect(await client.receivedAll() == "")
        }
    }

    @Test func `A client beyond its number of connections is not answered`() async throws {
        try await withServer(
            limits: ConnectionLimits(maxConnectionsPerClient: 1), immediate: StubResponder()
        ) { address in
            let first = try await WireClient.connected(to: address)
            try await first.send(Self.ask("/fast"))
            _ = await first.received(until: ")")
            let second = try await WireClient.connected(to: address)
            second.trySending(Self.ask("/fast"))
            #expect(await second.receivedAll() == "")
            try await first.close()
        }
    }

    @Test func `A malformed request after others is refused after their responses`() async throws {
        try await withServer(immediate: StubResponder()) { address in
            let client = try await WireClient.connected(to: address)
            try await client.send(Self.ask("/fast") + Self.ask("/fast") + "GET / HTTP/1.1\r\n\r\n")
            let answer = await client.receivedAll()
            #expect(Self.bodies(answer) == ["fast(/fast)", "fast(/fast)"])
            #expect(answer.contains("HTTP/1.1 400 Bad Request"))
        }
    }

    private static func bodies(_ text: String) -> [String] {
        text.matches(of: /(fast|slow)\([^)]*\)/).map { String($0.output.0) }
    }
}
