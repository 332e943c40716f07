import Foundation
import NIOCore
import NIOPosix
import Testing

/// What the built executable writes about requests.
@Suite(.timeLimit(.minutes(5)))
struct AccessLogTests {
    private static let token = "an-admin-secret-of-ours"

    private func server(_ flags: String...) async throws -> DarkroomProcess {
        try await DarkroomProcess(
            serving: [
                "--port", "0", "--cache-dir", try URL.temporaryFolder().path, "--allow-networks", "127.0.0.0/8",
                "--admin-token", Self.token,
            ] + flags)
    }

    @Test func `A request is one object of JSON that tells who asked what, and what came of it`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let server = try await server("--log-format", "json")
        let answer = try await Client.get(
            "\(server.base)/image?url=\(origin.url())&w=20", fields: [("X-Request-Id", "from-the-client")])
        #expect(answer["x-request-id"] == "from-the-client")
        #expect(await server.stop() == 0)
        let lines = try server.log.split(separator: "\n").map {
            try #require(try JSONSerialization.jsonObject(with: Data($0.utf8)) as? [String: Any])
        }
        let line = try #require(lines.first { $0["path"] as? String == "/image" })
        #expect(line["message"] as? String == "request")
        #expect(line["method"] as? String == "GET")
        #expect(line["status"] as? Int == 200)
        #expect(line["bytes"] as? Int == answer.body.readableBytes)
        #expect(line["duration-ms"] is Double)
        #expect(line["client"] as? String == "127.0.0.1")
        #expect(line["request-id"] as? String == "from-the-client")
        #expect((line["cache"] as? String)?.hasPrefix("darkroom;fwd=miss") == true)
        #expect(line["source-host"] as? String == "127.0.0.1")
        #expect(line["format"] as? String == "jpg" && line["tier"] as? String == "original-miss")
        #expect(line["width"] as? Int == 20 && (line["height"] as? Int).map { $0 > 0 } == true)
        let original = try Data(contentsOf: URL.fixtures.appendingPathComponent("sample.jpg"))
        #expect(line["source-bytes"] as? Int == original.count && line["origin-status"] as? Int == 200)
    }

    @Test func `Hits, misses, failures and refusals of the server each say what they are`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        origin.answer("/gone.jpg", .status("404 Not Found"))
        origin.answer("/broken.jpg", .status("500 Internal Server Error"))
        let server = try await server("--log-format", "logfmt", "--rate-limit", "9/h")
        let closed = "http://127.0.0.1:\(try await Self.closedPort())/a.jpg"
        let picture = origin.url()
        for source in [picture, picture, picture, origin.url("/gone.jpg"), origin.url("/broken.jpg"), closed] {
            _ = try await server.image(source, "w=20")
        }
        for query in ["w=0", "w=20"] { _ = try await server.image(picture, query, fields: [("If-None-Match", "*")]) }
        for _ in 0..<2 { _ = try await server.image("http://10.0.0.1/", "w=20") }
        let metrics = try await Client.get(
            "\(server.base)/metrics", fields: [("Authorization", "Bearer \(Self.token)")])
        #expect(String(buffer: metrics.body).contains(#"darkroom_origin_requests_total{result="unexpected_status"} 1"#))
        #expect(String(buffer: metrics.body).contains(#"darkroom_origin_requests_total{result="not_found"} 1"#))
        #expect(await server.stop() == 0)
        let details = ["format", "origin-error", "origin-status", "problem", "source-host", "status", "tier"]
        let image = "format=jpg source-host=127.0.0.1 status=200 tier="
        let failure = "source-host=127.0.0.1 status="
        #expect(
            Self.words(details, in: server.log, path: "/image") == [
                "format=jpg origin-status=200 source-host=127.0.0.1 status=200 tier=original-miss",
                image + "memory", image + "memory",
                "origin-error=not_found origin-status=404 problem=source-not-found \(failure)404",
                "origin-error=unexpected_status origin-status=500 problem=origin-failed \(failure)502",
                "origin-error=connection_refused problem=origin-failed \(failure)502",
                "problem=invalid-parameter status=400", "format=jpg source-host=127.0.0.1 status=304 tier=memory",
                "problem=source-not-allowed source-host=10.0.0.1 status=403", "problem=rate-limited status=429",
            ])
    }

    @Test func `Without hits, requests that are not hits remain`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let server = try await server("--log-format", "logfmt", "--log-hits", "false")
        for query in ["w=20", "w=20", "w=20", "w=20", "w=0"] { _ = try await server.image(origin.url(), query) }
        #expect(await server.stop() == 0)
        #expect(
            Self.words(["status", "tier"], in: server.log, path: "/image")
                == ["status=200 tier=original-miss", "status=400"])
    }

    /// The named fields of the requests' lines of logfmt.
    private static func words(_ names: [String], in log: String, path: String) -> [String] {
        log.split(separator: "\n").map { $0.split(separator: " ") }
            .filter { $0.contains("msg=request") && $0.contains { $0 == "path=\(path)" } }
            .map { $0.filter { word in names.contains { word.hasPrefix($0 + "=") } }.joined(separator: " ") }
    }

    /// A port of this machine that nothing listens on.
    private static func closedPort() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        try await channel.close()
        return port
    }

    @Test func `A reader of the log that stops reading delays neither requests nor the exit`() async throws {
        let log = Pipe()
        let server = try await DarkroomProcess(
            serving: ["--port", "0", "--cache-dir", try URL.temporaryFolder().path], log: log)
        // Each line has about 400 bytes, and a pipe holds 64 KiB.
        let path = String(repeating: "a", count: 250)
        for _ in 0..<400 {
            #expect(try await Client.get("\(server.base)/\(path)").status == 404)
        }
        #expect(await server.stop() == 0)
        withExtendedLifetime(log) {}
    }

    @Test(arguments: ["text", "json", "logfmt"])
    func `No secret that passes is written down, even at trace`(format: String) async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        origin.answer("/gone.jpg?key=secret", .status("404 Not Found"))
        let server = try await server(
            "--log-format", format, "--log-level", "trace", "--otlp-endpoint", "http://127.0.0.1:9", "--otlp-headers",
            "authorization=secret", "--otlp-sample-ratio", "1")
        let withUser = origin.url("/a.jpg?key=secret").replacingOccurrences(of: "//", with: "//user:secret@")
        for source in [
            withUser, origin.url("/gone.jpg?key=secret"), "ftp://secret@a.org/secret", "http://10.0.0.1/?secret",
        ] {
            _ = try await server.image(source, "w=20")
        }
        _ = try await server.image(
            origin.url("/a.jpg?key=secret"), "cache=reload", fields: [("Authorization", "Bearer \(Self.token)")])
        _ = try await Client.get(
            "\(server.base)/cache", fields: [("Authorization", "Bearer \(Self.token)"), ("Cookie", "secret")])
        _ = try await Client.get("\(server.base)/metrics?secret", fields: [("Authorization", "Bearer wrong-secret")])
        #expect(await server.stop() == 0)
        #expect(server.log.contains("/metrics"))
        #expect(!server.log.contains("secret"))
    }
}
