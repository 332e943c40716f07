import DarkroomNetwork
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomOrigin

struct EmbeddedFilesTests {
    private let files = EmbeddedFiles(["/samples/a.svg": Array("<svg/>".utf8)])

    @Test func `a file is answered whole`() async throws {
        let url = try SourceURL(parsing: "local:///samples/a.svg")
        #expect(files.refusal(of: url) == nil)
        let response = try await files.fetch(url)
        #expect(response.status == .ok && String(buffer: response.body) == "<svg/>")
    }

    @Test(arguments: [
        "local:///samples/b.svg", "local:///etc/passwd", "local:///samples/../samples/a.svg", "local:///",
    ])
    func `every other path is refused like a local file without a root`(url: String) async throws {
        let url = try SourceURL(parsing: url)
        #expect(files.refusal(of: url) == .notAllowed(.local))
        await #expect(throws: OriginError.notAllowed(.local)) { try await files.fetch(url) }
    }

    @Test func `another scheme is not a file`() async throws {
        let url = try SourceURL(parsing: "https://example.com/samples/a.svg")
        await #expect(throws: OriginError.self) { try await files.fetch(url) }
    }
}
