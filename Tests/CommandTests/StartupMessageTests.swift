import Foundation
import Testing

/// What the executable prints once it is up.
@Suite(.timeLimit(.minutes(5)))
struct StartupMessageTests {
    private static let key = "k1:0123456789abcdef0123456789abcdef"

    private func server(_ flags: [String], _ environment: [String: String]) async throws -> DarkroomProcess {
        let cache = try URL.temporaryFolder().path
        return try await DarkroomProcess(
            serving: ["--port", "0", "--cache-dir", cache, "--log-level", "warning"] + flags, environment: environment)
    }

    @Test(
        arguments: [
            [], ["--local-root", URL.fixtures.path], ["--presets", "small=w=40", "--presets-only", "true"],
            ["--compat", "wsrv"],
        ], [[:], ["DARKROOM_SIGNING_KEYS": key]])
    func `The command to try gets an image, also from a server with keys`(
        flags: [String], keys: [String: String]
    ) async throws {
        let server = try await server(flags, keys)
        #expect(await server.nextLine() == "Playground: \(server.base)/")
        let line = try #require(await server.nextLine())
        let url = try #require(line.firstMatch(of: /Try:  curl -f -o image[.webp]* '(http:[^']+)'/)).output.1
        #expect(url.contains("s=k1.") != keys.isEmpty)
        #expect(try await Client.get(String(url)).status == 200)
        #expect(await server.stop() == 0)
    }

    @Test(arguments: [
        ["--compat", "imgproxy", "--imgproxy-keys", "736563726574:68656C6C6F"],
        ["--compat", "thumbor", "--thumbor-key", "secret"],
    ])
    func `A server that has keys only for the paths of another service prints no command to try`(
        flags: [String]
    ) async throws {
        let server = try await server(flags, [:])
        #expect(await server.nextLine() == "Playground: \(server.base)/")
        #expect(await server.stop() == 0)
        #expect(await server.nextLine() == nil)
    }

    @Test func `Without playground and folder, there is no command to try`() async throws {
        let server = try await server(["--playground", "false"], [:])
        #expect(await server.stop() == 0)
        #expect(await server.nextLine() == nil)
    }

    @Test func `Scripts for which no font is installed are named in the log, and by version --verbose`() async throws {
        let folder = try URL.temporaryFolder()
        let settings = folder.appendingPathComponent("fonts.conf")
        try Data("<fontconfig><cachedir>\(folder.path)</cachedir></fontconfig>".utf8).write(to: settings)
        let environment = ["FONTCONFIG_FILE": settings.path]
        let flags = ["--port", "0", "--cache-dir", folder.appendingPathComponent("cache").path]
        let server = try await DarkroomProcess(serving: flags, environment: environment)
        #expect(await server.stop() == 0)
        let line = server.log.split(separator: "\n").first { $0.contains("no fonts for some scripts") }
        #expect(line?.contains("Latin, Greek") == true)
        #expect(line?.contains("fonts-noto-cjk, fonts-noto-color-emoji, fonts-noto-core") == true)
        let version = try DarkroomProcess.run(["version", "--verbose"], environment: environment)
        #expect(version.output.contains("\nlacks fonts for Latin, Greek, "))
        #expect(version.output.contains(": install fonts-noto-cjk, fonts-noto-color-emoji, fonts-noto-core\n"))
    }
}
