import Foundation
import NIOCore
import Testing

/// `metadata`, through the built executable with its workers.
@Suite(.timeLimit(.minutes(5)))
struct MetadataRouteTests {
    @Test func `Rights leave with an image, EXIF by request, and a position never`() async throws {
        let server = try await DarkroomProcess(["--local-root", URL.fixtures.path])
        for (query, hasRights, hasDescription) in [
            ("", true, false), ("&metadata=rights", true, false), ("&metadata=all", true, true),
            ("&metadata=none", false, false),
        ] {
            let image = try await server.image("local:///sample.jpg", "w=200&output=webp\(query)")
            let text = String(decoding: image.body.readableBytesView, as: UTF8.self)
            #expect(image.status == 200 && text.contains("Darkroom contributors") == hasRights, "\(query)")
            #expect(text.contains("A lake at dusk") == hasDescription && !text.contains("GPS"), "\(query)")
        }
        #expect(try await server.image("local:///sample.jpg", "metadata=keep").status == 400)
        #expect(await server.stop() == 0)
    }
}
