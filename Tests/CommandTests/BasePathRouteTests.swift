import Foundation
import NIOCore
import Testing

/// The setting `base-path`, on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct BasePathRouteTests {
    private static let secret = "0123456789abcdef0123456789-secret"
    private static let token = "a-token-of-sixteen-bytes"

    private func server(_ flags: [String]) async throws -> DarkroomProcess {
        try await DarkroomProcess(
            ["--isolation", "none", "--local-root", URL.fixtures.path, "--base-path", "/media/img"] + flags)
    }

    @Test func `Endpoints are below the base path, and so are the URLs that they hand out`() async throws {
        let server = try await server(["--admin-token", Self.token])
        let below = server.base + "/media/img"
        for target in ["/image?url=local:///sample.jpg&w=20", "/", "/health", "/openapi.yaml", "/problems"] {
            #expect(try await Client.get(below + target).status == 200, "\(target)")
        }
        // The second hit of a URL takes another way through the server, which the first one has taught it.
        for base in [below, below, server.base] {
            let hit = try await Client.get("\(base)/image?url=local:///sample.jpg&w=20")
            #expect(hit["cache-status"]?.contains("detail=memory") == true)
        }
        let srcset = try await Client.get(below + "/srcset?url=local:///sample.jpg&widths=20,40")
        let html = String(buffer: srcset.body)
        #expect(html.contains("/media/img/image?url=") && !html.contains("\"/image?"), "\(html)")
        let explained = try await Client.get(below + "/explain?url=local:///sample.jpg&w=20")
        #expect(String(buffer: explained.body).contains("\"address\":\"/media/img/image?"))
        #expect(await server.stop() == 0)
    }

    @Test func `Signed URLs begin with the base path and are valid`() async throws {
        let keys = ["DARKROOM_SIGNING_KEYS": "k1:\(Self.secret)", "DARKROOM_BASE_PATH": "/media/img/"]
        let flags = ["--isolation", "none", "--port", "0", "--cache-dir", try URL.temporaryFolder().path]
        let server = try await DarkroomProcess(
            serving: flags + ["--local-root", URL.fixtures.path], environment: keys)
        let query = "url=local:///sample.jpg&w=20"
        for request in [[query], ["/image?\(query)"], ["/media/img/image?\(query)"], [query, "--path"]] {
            let signed = try DarkroomProcess.run(["sign"] + request, environment: keys)
            #expect(signed.status == 0, "\(signed.errors)")
            let target = signed.output.trimmingCharacters(in: .whitespacesAndNewlines)
            #expect(target.hasPrefix("/media/img/\(request.count == 1 ? "image?" : "signed/")"), "\(target)")
            #expect(try await Client.get(server.base + target).status == 200)
        }
        #expect(await server.stop() == 0)
    }

    @Test func `Ignored parameters are outside of signatures and cache keys`() async throws {
        let keys = ["DARKROOM_SIGNING_KEYS": "k1:\(Self.secret)"]
        let flags = [
            "--isolation", "none", "--port", "0", "--cache-dir", try URL.temporaryFolder().path, "--local-root",
            URL.fixtures.path, "--ignored-parameters", "utm_*,fbclid",
        ]
        let server = try await DarkroomProcess(serving: flags, environment: keys)
        let signed = try DarkroomProcess.run(["sign", "url=local:///sample.jpg&w=20"], environment: keys)
        let url = server.base + signed.output.trimmingCharacters(in: .whitespacesAndNewlines)
        #expect(try await Client.get(url).status == 200)
        let shared = try await Client.get("\(url)&utm_source=mail&fbclid=x")
        #expect(shared.status == 200 && shared["cache-status"]?.contains("hit") == true)
        #expect(try await Client.get("\(url)&gclid=x").status == 403)
        #expect(await server.stop() == 0)
    }

    @Test(arguments: ["w", "ur*", "exp", "s", "dry_run", "widths", "path", "errorredirect", "*", "a b", ""])
    func `A parameter of the server, or no name, cannot be ignored`(name: String) throws {
        let run = try DarkroomProcess.run(["serve", "--ignored-parameters", "utm_*,\(name.isEmpty ? "%" : name)"])
        #expect(run.status == 78 && run.errors.hasPrefix("Error: --ignored-parameters"), "\(run.errors)")
    }

    @Test(arguments: ["img", "/img/../x", "/a//b", "/a b", "/ä", "//", "/%41", "/a?b"])
    func `A base path that URLs cannot begin with stops startup`(path: String) throws {
        let run = try DarkroomProcess.run(["serve", "--base-path", path])
        #expect(run.status == 78)
        #expect(run.errors.hasPrefix("Error: --base-path must be a path such as /images"), "\(run.errors)")
    }
}
