import AsyncHTTPClient
import DarkroomTransforms
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// `POST /image`, through the built executable and a real socket.
@Suite(.timeLimit(.minutes(5)))
struct UploadRouteTests {
    private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(["--uploads", "true", "--local-root", URL.fixtures.path] + flags)
    }

    private static func bytes(_ name: String) throws -> ByteBuffer {
        ByteBuffer(bytes: try Data(contentsOf: URL.fixtures.appendingPathComponent(name)))
    }

    private static func form(_ file: ByteBuffer, boundary: String = "----b") -> ByteBuffer {
        var form = ByteBuffer(
            string: "--\(boundary)\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.jpg\"\r\n"
                + "Content-Type: text/plain\r\n\r\n")
        form.writeImmutableBuffer(file)
        form.writeString("\r\n--\(boundary)--\r\n")
        return form
    }

    private func post(
        _ server: DarkroomProcess, _ query: String, _ body: HTTPClientRequest.Body,
        _ fields: [(String, String)] = [("Content-Type", "image/jpeg")]
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: "\(server.base)/image\(query)")
        request.method = .POST
        request.headers = HTTPHeaders(fields)
        request.body = body
        let response = try await HTTPClient.shared.execute(request, timeout: .minutes(4))
        return Answer(
            status: Int(response.status.code), fields: response.headers,
            body: try await response.body.collect(upTo: 64 << 20))
    }

    @Test func `An upload is the image that the same bytes at a URL are, in each form`() async throws {
        let server = try await server()
        let photo = try Self.bytes("sample.jpg")
        let fetched = try await server.image("local:///sample.jpg", "w=100&output=webp")
        let multipart = [("Content-Type", "multipart/form-data; boundary=----b")]
        let sent = try await post(server, "?w=100&output=webp", .bytes(photo))
        #expect(sent.status == 200 && sent.body == fetched.body)
        #expect(sent["cache-control"] == "no-store" && sent["etag"] == nil)
        #expect(sent["cache-status"] == "darkroom;fwd=bypass;detail=upload")
        #expect(try await post(server, "?w=100&output=webp", .bytes(Self.form(photo)), multipart).body == fetched.body)
        let pieces = stride(from: 0, to: photo.readableBytes, by: 10_000).map { start in
            photo.getSlice(at: start, length: min(10_000, photo.readableBytes - start)) ?? ByteBuffer()
        }
        let chunked = HTTPClientRequest.Body.stream(
            AsyncStream { continuation in
                for piece in pieces { continuation.yield(piece) }
                continuation.finish()
            }, length: .unknown)
        #expect(try await post(server, "?w=100&output=webp", chunked).body == fetched.body)
        // The type may be wrong: the bytes are what counts.
        #expect(
            try await post(server, "?output=webp&w=100", .bytes(photo), [("Content-Type", "image/gif")]).body
                == fetched.body)
        #expect(await server.stop() == 0)
        #expect(!server.log.contains("error"))
    }

    @Test func `What is asked to be stored answers the next equal upload`() async throws {
        let server = try await server(["--admin-token", "secret-token-0123456789"])
        func processed() async throws -> Bool {
            let metrics = try await Client.get(
                "\(server.base)/metrics", fields: [("Authorization", "Bearer secret-token-0123456789")])
            return String(buffer: metrics.body).contains(
                "darkroom_image_stage_duration_seconds_count{stage=\"process\"} 1\n")
        }
        let photo = try Self.bytes("sample.jpg")
        let first = try await post(server, "?w=90&store=variant&wait=stored", .bytes(photo))
        let second = try await post(server, "?w=90&store=variant", .bytes(photo))
        #expect(second.body == first.body)
        #expect(try await processed())
        for answer in [first, second] {
            #expect(answer["cache-status"] == "darkroom;fwd=bypass;detail=upload")
            #expect(answer["server-timing"]?.hasPrefix("total;") == true)
        }
        #expect(try await post(server, "?w=90", .bytes(photo))["server-timing"]?.contains("process;") == true)
        #expect(try await !processed())
        #expect(await server.stop() == 0)
    }

    @Test func `Files that are no images, or damaged ones, fail as they do at a URL`() async throws {
        let server = try await server(["--max-source-bytes", "3MiB"])
        let fixtures = try Fixture.all().filter { $0.outcome != "decode" }
        for fixture in fixtures {
            let file = try Self.bytes(fixture.path)
            let answer = try await post(server, "?w=10", .bytes(file))
            #expect(answer.status == (file.readableBytes > 0 ? fixture.status : 400), "\(fixture.path)")
            #expect(answer.problem != nil)
        }
        #expect(try await post(server, "?w=10", .bytes(try Self.bytes("sample.jpg"))).status == 200)
        let large = try await post(server, "", .bytes(ByteBuffer(repeating: 0, count: 3 << 20 + 1)))
        #expect(large.status == 413 && large.problem?.type == "/problems/source-too-large")
        #expect(await server.stop() == 0)
    }

    @Test func `Bodies that lie or never end leave the server as it was`() async throws {
        let server = try await server([
            "--request-timeout", "5s", "--download-timeout", "5s", "--max-source-bytes", "1MiB",
        ])
        let head = "POST /image?w=9 HTTP/1.1\r\nHost: x\r\nContent-Type: image/jpeg\r\n"
        let large = String(repeating: "x", count: 70_000)
        let cases: [(request: String, status: String)] = [
            ("\(head)Content-Length: 100\r\n\r\nshort", "400"),
            ("\(head)Transfer-Encoding: chunked\r\n\r\n5\r\nshort\r\n", "400"),
            ("\(head)Transfer-Encoding: chunked\r\n\r\nzz\r\n", "400"), ("\(head)Content-Length: 0\r\n\r\n", "400"),
            ("\(head)\r\n", "400"), ("\(head)Content-Length: 2000000\r\nExpect: 100-continue\r\n\r\n", "413"),
            ("\(head)Content-Length: 1\r\nContent-Length: 2\r\n\r\nx", "400"),
            ("\(head)Content-Length: -1\r\n\r\n", "400"),
            (
                "\(head)Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                    + String(repeating: "11170\r\n\(large)\r\n", count: 20), "413"
            ),
        ]
        for (request, status) in cases {
            let answer = try await Raw.exchange(request, with: server.base)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(request.prefix(200)) \(answer.prefix(200))")
            #expect(answer.contains("application/problem+json"))
        }
        #expect(try await post(server, "?w=10", .bytes(try Self.bytes("sample.jpg"))).status == 200)
        #expect(await server.stop() == 0)
    }

    @Test func `Uploads appear in the log and in the metrics as what they are`() async throws {
        let server = try await DarkroomProcess(serving: [
            "--port", "0", "--cache-dir", try URL.temporaryFolder().path, "--uploads", "true", "--log-format", "logfmt",
            "--admin-token", "secret-token-0123456789",
        ])
        let photo = try Self.bytes("sample.jpg")
        #expect(try await post(server, "?w=10", .bytes(photo)).status == 200)
        let metrics = try await Client.get(
            "\(server.base)/metrics", fields: [("Authorization", "Bearer secret-token-0123456789")])
        let text = String(buffer: metrics.body)
        #expect(text.contains("darkroom_image_answers_total{result=\"upload\"} 1"))
        #expect(text.contains("darkroom_downloads_in_flight_bytes 0"))
        #expect(await server.stop() == 0)
        let line = server.log.split(separator: "\n").first { $0.contains("POST") } ?? ""
        #expect(line.contains("source-host=upload:") && line.contains("source-bytes=\(photo.readableBytes)"))
    }

    @Test func `Without the setting, and without a signature, uploads are refused`() async throws {
        let closed = try await DarkroomProcess()
        let photo = try Self.bytes("sample.jpg")
        #expect(try await post(closed, "?w=10", .bytes(photo)).problem?.type == "/problems/uploads-disabled")
        #expect(await closed.stop() == 0)
        let keys = ["DARKROOM_SIGNING_KEYS": "k1:\(String(repeating: "s", count: 32))"]
        let signing = try await DarkroomProcess(
            serving: ["--port", "0", "--cache-dir", try URL.temporaryFolder().path, "--uploads", "true"],
            environment: keys)
        #expect(try await post(signing, "?w=10", .bytes(photo)).problem?.type == "/problems/signature-required")
        let signed = try DarkroomProcess.run(["sign", "w=10", "--upload", "--expires-in", "10m"], environment: keys)
        #expect(signed.status == 0)
        let query = signed.output.trimmingCharacters(in: .newlines).dropFirst("/image".count)
        #expect(try await post(signing, String(query), .bytes(photo)).status == 200)
        #expect(await signing.stop() == 0)
    }
}

/// A connection that sends what a client must not.
private enum Raw {
    /// Sends text and returns everything that the server sends until it closes the connection, or its next response
    /// after a moment of `GET`.
    static func exchange(_ text: String, with base: String) async throws -> String {
        let url = URL(string: base)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: url?.host ?? "", port: url?.port ?? 0) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            // The server may answer and close before everything was sent.
            try? await outbound.write(ByteBuffer(string: text))
            var answer = ""
            for try await part in inbound {
                answer += String(buffer: part)
                if answer.hasSuffix("}") { break }
            }
            return answer
        }
    }
}
