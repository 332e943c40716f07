import Foundation
import NIOCore
import Testing

/// The URLs that the documents ask a local server for.
@Suite(.timeLimit(.minutes(5)))
struct DocumentedURLTests {
    private static let folder = URL.fixtures.deletingLastPathComponent().deletingLastPathComponent()

    /// The paths and queries of all images, lists of sizes and descriptions, without the one that shows an error.
    private static let targets: [String] = {
        let pages = try? FileManager.default.contentsOfDirectory(
            at: folder.appendingPathComponent("docs"), includingPropertiesForKeys: nil)
        let texts = ([folder.appendingPathComponent("README.md")] + (pages ?? [])).compactMap {
            try? String(contentsOf: $0, encoding: .utf8)
        }
        let url = #/http://127\.0\.0\.1:8080(/(?:image|srcset|info|explain|)\?[^ `'")\\]*url=local:[^ `'")\\]*)/#
        return Set(texts.joined().matches(of: url).map { String($0.1) }).filter { !$0.hasSuffix("w=abc") }.sorted()
    }()

    @Test(.enabled(if: !targets.isEmpty, "there are no documents")) func `Every URL in the documents is answered`()
        async throws
    {
        // Long enough for a machine that is busy with other work.
        let flags = ["--local-root", URL.fixtures.path, "--formats", "avif,webp", "--request-timeout", "4m"]
        let fixtures = try await DarkroomProcess(flags)
        let samples = try await DarkroomProcess([])
        for target in Self.targets {
            let server = target.contains("local:///samples/") ? samples : fixtures
            let answer = try await Client.get(server.base + target)
            #expect(answer.status == 200, "\(target): \(String(buffer: answer.body).prefix(300))")
        }
        #expect(await fixtures.stop() == 0)
        #expect(await samples.stop() == 0)
    }
}
