import Foundation
import NIOHTTP1
import Testing

/// The separate admin port, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct AdminPortTests {
    private let token = "a-token-of-enough-letters"

    /// A server with an admin port, and where that is.
    private func server(_ flags: [String] = []) async throws -> (server: DarkroomProcess, admin: String) {
        let server = try await DarkroomProcess(["--admin-port", "0"] + flags)
        let line = try #require(await server.nextLine())
        let url = line.range(of: #"http://[0-9.]+:[0-9]+"#, options: .regularExpression).map { String(line[$0]) }
        return (server, try #require(url))
    }

    @Test func `Admin endpoints are served on the admin port only, and health on both ports`()
        async throws
    {
        let (server, admin) = try await server()
        for path in ["/cache", "/metrics", "/cache?all=true", "/prefetch"] {
            let problem = try await Client.get(server.base + path).problem
            #expect(problem?.type == "/problems/no-such-route" && problem?.detail?.contains("'admin-port'") == true)
            #expect(try await Client.get(admin + path).status == 200)
        }
        #expect(try await Client.get(server.base + "/cache?all=true", method: .DELETE).status == 404)
        #expect(try await Client.get(admin + "/cache?all=true", method: .DELETE).status == 200)
        #expect(try await Client.get(admin + "/image?url=local:///a").problem?.type == "/problems/no-such-route")
        for base in [server.base, admin] {
            for path in ["/health/live", "/health/ready", "/problems/no-such-route", "/openapi.json"] {
                #expect(try await Client.get(base + path).status == 200)
            }
        }
        #expect(await server.stop() == 0)
        #expect(await Client.isRefused(at: admin))
    }

    @Test func `A configured token is required on the admin port too`() async throws {
        let (server, admin) = try await server(["--admin-token", token])
        let bearer = [("Authorization", "Bearer \(token)")]
        #expect(try await Client.get(admin + "/metrics").status == 401)
        #expect(try await Client.get(admin + "/metrics", fields: bearer).status == 200)
        #expect(try await Client.get(server.base + "/metrics", fields: bearer).status == 404)
    }

    @Test func `An admin port in use is named, and the server does not start`() async throws {
        let (first, admin) = try await server()
        let port = try #require(admin.split(separator: ":").last.map(String.init))
        let second = try DarkroomProcess.run([
            "serve", "--port", "0", "--admin-port", port, "--cache-dir", try URL.temporaryFolder().path,
        ])
        #expect(second.status == 1)
        let sentence = "Error: Port \(port) on 127.0.0.1 is already in use. Choose another with --admin-port.\n"
        #expect(second.errors.hasSuffix(sentence))
        #expect(!second.output.contains("listens"))
        #expect(await first.stop() == 0)
    }
}
