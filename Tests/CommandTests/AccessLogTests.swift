import Foundation
import NIOCore
import Testing

/// What the built executable writes about requests.
@Suite(.timeLimit(.minutes(3)))
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
        let server = try await server("--log-format", format, "--log-level", "trace")
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
