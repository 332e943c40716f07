import DarkroomNetwork
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomOrigin

struct EmbeddedFilesTests {
    private func files(behind root: String? = nil) -> EmbeddedFiles {
        EmbeddedFiles(["/samples/a.svg": Array("<svg/>".utf8)], behind: LocalFiles(root: root))
    }

    @Test func `A file is answered whole`() async throws {
        let url = try SourceURL(parsing: "local:///samples/a.svg")
        #expect(files().refusal(of: url) == nil)
        let response = try await files().fetch(url)
        #expect(response.status == .ok && String(buffer: response.body) == "<svg/>")
    }

    @Test func `Files of a folder take precedence, and do not hide others`() async throws {
        let root = FileManager.default.temporaryDirectory.appendingPathComponent("darkroom-\(UUID().uuidString)")
        let folder = root.appendingPathComponent("samples")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: root) }
        let files = files(behind: root.path)
        let (sample, own) = try (
            SourceURL(parsing: "local:///samples/a.svg"), SourceURL(parsing: "local:///samples/own.svg")
        )
        #expect(files.refusal(of: sample) == nil && files.refusal(of: own) == nil)
        #expect(try await String(buffer: files.fetch(sample).body) == "<svg/>")
        await #expect(throws: OriginError.localNotFound) { try await files.fetch(own) }

        try Data("<svg id='own'/>".utf8).write(to: folder.appendingPathComponent("a.svg"))
        #expect(try await String(buffer: files.fetch(sample).body) == "<svg id='own'/>")
    }

    @Test(arguments: [
        "local:///samples/b.svg", "local:///etc/passwd", "local:///samples/../samples/a.svg", "local:///",
    ])
    func `Every other path is refused like a local file without a root`(url: String) async throws {
        let url = try SourceURL(parsing: url)
        #expect(files().refusal(of: url) == .notAllowed(.local))
        await #expect(throws: OriginError.notAllowed(.local)) { try await files().fetch(url) }
    }

    @Test func `Another scheme is not a file`() async throws {
        let url = try SourceURL(parsing: "https://example.com/samples/a.svg")
        await #expect(throws: OriginError.self) { try await files().fetch(url) }
    }
}
