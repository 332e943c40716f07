import DarkroomRequests
import DarkroomTestOrigin
import DarkroomTransforms
import Foundation
import NIOCore
import NIOPosix
import Testing

/// `GET /image` on a real loopback origin, through the built executable.
@Suite(.timeLimit(.minutes(5)))
struct OriginRouteTests {
    private static let picture = URL.fixtures.appendingPathComponent("sample.jpg")

    private func origin(
        _ script: @escaping @Sendable (TestOrigin.Request) -> [TestOrigin.Step]
    ) async throws -> TestOrigin {
        let origin = TestOrigin(script: script)
        try await origin.start()
        return origin
    }

    private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(["--allow-networks", "127.0.0.0/8"] + flags)
    }

    private static func sample(fields: [String] = []) throws -> TestOrigin.Step {
        .respond(fields: fields, bytes: ByteBuffer(bytes: try Data(contentsOf: picture)))
    }

    @Test func `The second width of a source downloads nothing, and a restart keeps both`() async throws {
        let sample = try Self.sample()
        let origin = try await origin { _ in [sample] }
        let cache = try URL.temporaryFolder()
        let source = "http://127.0.0.1:\(origin.port)/a.jpg"
        let server = try await DarkroomProcess(["--allow-networks", "127.0.0.0/8"], cache: cache)
        let first = try await server.image(source, "w=100")
        #expect(first.status == 200)
        let second = try await server.image(source, "w=50")
        #expect(second.status == 200)
        #expect(second["cache-status"]?.contains("fwd=miss") == true)
        #expect(origin.requests.count == 1)
        #expect(await server.stop() == 0)

        let restarted = try await DarkroomProcess(["--allow-networks", "127.0.0.0/8"], cache: cache)
        let again = try await restarted.image(source, "w=100")
        #expect(again["cache-status"]?.contains("hit") == true)
        #expect(again.body == first.body)
        #expect(again["etag"] == first["etag"])
        #expect(origin.requests.count == 1)
    }

    @Test func `The origin hears from us and never of the client's credentials`() async throws {
        let sample = try Self.sample(fields: ["Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT", "Set-Cookie: a=b"])
        let origin = try await origin { _ in [sample] }
        let server = try await server()
        let answer = try await server.image(
            "http://127.0.0.1:\(origin.port)/a.jpg", "w=10",
            fields: [("Cookie", "secret=1"), ("Authorization", "Bearer x"), ("Referer", "http://private/")])
        #expect(answer["last-modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(answer["set-cookie"] == nil)
        let fields = try #require(origin.requests.first?.fields)
        #expect(fields["cookie"] == nil)
        #expect(fields["authorization"] == nil)
        #expect(fields["referer"] == nil)
        #expect(fields["accept-encoding"] == "identity")
        #expect(fields["user-agent"]?.contains("arkroom") == true)
        #expect(fields["via"] != nil)
        let loop = try await server.image(
            "http://127.0.0.1:\(origin.port)/a.jpg", "w=11", fields: [("Via", fields["via"] ?? "")])
        #expect(loop.status == 508)
        #expect(loop.problem?.status == 508)
    }

    @Test(arguments: [("404 Not Found", 404), ("410 Gone", 410), ("500 Oops", 502), ("403 Forbidden", 403)])
    func `An origin's failure has its own status here`(line: String, status: Int) async throws {
        let origin = try await origin { _ in [.respond(line)] }
        let server = try await server()
        let answer = try await server.image("http://127.0.0.1:\(origin.port)/a.jpg")
        #expect(answer.status == status)
        #expect(answer.problem?.status == status)
    }

    @Test func `Text under an image's name is 415 and damaged bytes are 422, and neither is asked for again at once`()
        async throws
    {
        let broken = try Data(contentsOf: Self.picture).prefix(20_000)
        let origin = try await origin { request in
            request.target == "/text"
                ? [.respond(fields: ["Content-Type: image/jpeg"], body: "hello")]
                : [.respond(bytes: ByteBuffer(bytes: broken))]
        }
        let server = try await server()
        for _ in 0..<2 {
            #expect(try await server.image("http://127.0.0.1:\(origin.port)/text").status == 415)
            #expect(try await server.image("http://127.0.0.1:\(origin.port)/broken").status == 422)
        }
        #expect(origin.requests.count == 2)
    }

    @Test func `More bytes than allowed are refused, whatever the origin says of them`() async throws {
        let origin = try await origin { request in
            request.target == "/honest"
                ? [.respond(bytes: ByteBuffer(repeating: 1, count: 70_000))]
                : [
                    .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"),
                    .sendForever("400\r\n\(String(repeating: "x", count: 1024))\r\n"),
                ]
        }
        let server = try await server(["--max-source-bytes", "64KiB"])
        for path in ["honest", "endless"] {
            let answer = try await server.image("http://127.0.0.1:\(origin.port)/\(path)")
            #expect(answer.status == 413)
            #expect(answer.problem?.detail?.contains("65536") == true)
        }
    }

    @Test func `An origin that drips or never answers is 504`() async throws {
        let origin = try await origin { request in
            request.target == "/drip"
                ? [.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n"), .drip] : [.stall]
        }
        let server = try await server(["--download-timeout", "300ms", "--connect-timeout", "100ms"])
        for path in ["drip", "silent"] {
            #expect(try await server.image("http://127.0.0.1:\(origin.port)/\(path)").status == 504)
        }
    }

    @Test func `A redirect to an address that is not allowed is refused`() async throws {
        let origin = try await origin { _ in [.redirect(to: "http://169.254.169.254/latest/meta-data/")] }
        let server = try await server()
        let answer = try await server.image("http://127.0.0.1:\(origin.port)/a.jpg")
        #expect(answer.status == 403)
        #expect(answer.problem?.detail?.contains("169.254") == false)
    }

    @Test func `Two hundred clients of one cold picture cost one download`() async throws {
        let gate = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        let sample = try Self.sample()
        let origin = try await origin { _ in [.wait(gate.futureResult), sample] }
        let server = try await server()
        let source = "http://127.0.0.1:\(origin.port)/a.jpg"
        let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
            for _ in 0..<200 { group.addTask { try await server.image(source, "w=80") } }
            for await _ in origin.arrivals { break }
            gate.succeed()
            var answers: [Answer] = []
            for try await answer in group { answers.append(answer) }
            return answers
        }
        #expect(answers.allSatisfy { $0.status == 200 && $0.body == answers[0].body })
        #expect(origin.requests.count == 1)
    }

    @Test func `A client that hangs up ends the download`() async throws {
        let origin = try await origin { _ in [.stall] }
        let server = try await server()
        let client = Task { try? await server.image("http://127.0.0.1:\(origin.port)/a.jpg") }
        for await _ in origin.arrivals { break }
        client.cancel()
        _ = await client.value
        for await _ in origin.hangUps { break }
    }
}
