import DarkroomTransforms
import Foundation
import NIOCore
import Testing

/// `passthrough`, through the built executable with its workers.
@Suite(.timeLimit(.minutes(5)))
struct PassthroughRouteTests {
    private let source = "local:///color/palette.png"

    private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(["--local-root", URL.fixtures.path] + flags)
    }

    @Test func `A small source is sent with its own data, and said to be, on misses and hits`() async throws {
        let server = try await server()
        let encoded = try await server.image(source)
        #expect(encoded["x-quality"] == nil)
        for _ in 0..<3 {
            let image = try await server.image(source, "passthrough=auto")
            #expect(image.status == 200 && image["content-type"] == "image/png" && image["x-quality"] == "source")
            #expect(image.body.readableBytes < encoded.body.readableBytes)
            #expect(try SourceHeader(of: image.body).size == SourceHeader(of: encoded.body).size)
        }
        let other = try await server.image(source, "passthrough=auto&w=100")
        #expect(other.status == 200 && other["x-quality"] == nil)
        let translated = try await server.image(source, "passthrough=auto", fields: [("Accept", "image/webp")])
        #expect(translated["content-type"] == "image/webp" && translated["x-quality"] == nil)
        #expect(await server.stop() == 0)
    }

    @Test func `The setting is the default of the parameter`() async throws {
        let server = try await server(["--passthrough", "auto"])
        #expect(try await server.image(source)["x-quality"] == "source")
        #expect(try await server.image(source, "passthrough=off")["x-quality"] == nil)
        #expect(try await server.image(source, "passthrough=on").status == 400)
        #expect(await server.stop() == 0)
    }
}
