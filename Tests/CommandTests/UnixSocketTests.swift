import Foundation
import Testing

@testable import DarkroomCommand

/// A listener on a Unix socket, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct UnixSocketTests {
    private let path: String
    private let flags: [String]

    init() throws {
        // Short enough for the kernel wherever temporary files are.
        path = "/tmp/darkroom-\(UUID().uuidString.prefix(8)).sock"
        flags = [
            "--unix-socket", path, "--admin-port", "0", "--local-root", URL.fixtures.path, "--cache-dir",
            try URL.temporaryFolder().path,
        ]
    }

    private func get(_ target: String, fields: [(String, String)] = []) async throws -> Answer {
        let host = path.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? path
        return try await Client.get("http+unix://\(host)\(target)", fields: fields + [("Host", "localhost")])
    }

    @Test func `The server answers on the socket, to clients that the proxy on this machine names`() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        // A host for everyone needs keys; a socket does not.
        let server = try await DarkroomProcess(
            serving: flags + ["--host", "0.0.0.0", "--trusted-proxies", "127.0.0.1/32"])
        #expect(try await Client.get(server.base + "/health/ready").status == 200)
        let forwarded = [("X-Forwarded-For", "203.0.113.9")]
        // The second hit of a URL takes another way through the server.
        for _ in 0..<4 {
            let answer = try await get("/image?url=local:///sample.jpg&w=20", fields: forwarded)
            #expect(answer.status == 200)
        }
        #expect(try await get("/health").status == 200)
        #expect(await server.stop() == 0)
        let requests = server.log.split(separator: "\n").filter { $0.contains("path=/image") }
        #expect(requests.count == 4)
        for line in requests { #expect(line.contains("client=203.0.113.9"), "\(line)") }
        #expect(server.log.contains("client=127.0.0.1"))
    }

    @Test func `The health command finds the socket`() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let server = try await DarkroomProcess(serving: flags)
        let run = try DarkroomProcess.run(["health", "--unix-socket", path])
        #expect(run.status == 0, "\(run.errors)")
        #expect(run.output == "unix:\(path): ready\n")
        #expect(await server.stop() == 0)
        let stopped = try DarkroomProcess.run(["health"], environment: ["DARKROOM_UNIX_SOCKET": path])
        #expect(stopped.status == 1)
        #expect(stopped.errors == "Error: unix:\(path): No such file or directory.\n")
    }

    @Test func `A socket in use is left to its server, and one left behind is replaced`() async throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        let first = try await DarkroomProcess(serving: flags)
        let second = try DarkroomProcess.run(["serve"] + flags + ["--log-level", "critical"])
        #expect(second.status == 1)
        let sentence = "Error: The Unix socket \(path) is already in use. Choose another with --unix-socket.\n"
        #expect(second.errors == sentence)
        #expect(try await get("/health").status == 200)
        kill(first.identifier, SIGKILL)
        _ = await first.wait()
        #expect(FileManager.default.fileExists(atPath: path))
        let third = try await DarkroomProcess(serving: flags)
        #expect(try await get("/health").status == 200)
        #expect(await third.stop() == 0)
    }

    @Test func `A file that is no socket is not replaced`() throws {
        defer { try? FileManager.default.removeItem(atPath: path) }
        try Data("text".utf8).write(to: URL(fileURLWithPath: path))
        let run = try DarkroomProcess.run(["serve"] + flags + ["--log-level", "critical"])
        #expect(run.status == 1)
        #expect(run.errors.hasPrefix("Error: The Unix socket \(path) cannot be bound ("), "\(run.errors)")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "text")
    }
}
