import Foundation
import Testing

/// `damaged`, through the built executable with its workers.
@Suite(.timeLimit(.minutes(5)))
struct DamagedRouteTests {
    private let source = "local:///hostile/truncated.jpg"

    private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(["--local-root", URL.fixtures.path] + flags)
    }

    @Test func `A damaged source is refused, or shown for a short time`() async throws {
        let server = try await server()
        #expect(try await server.image(source).status == 422)
        for _ in 0..<2 {
            let image = try await server.image(source, "damaged=show&w=50")
            #expect(image.status == 200 && image["x-damaged"] == "?1")
            #expect(image["cache-control"]?.contains("max-age=60") == true && image["age"] == "0")
            #expect(image["cache-status"]?.contains("hit") == false)
        }
        #expect(try await server.image(source, "w=50").status == 422)
        #expect(try await server.image("local:///sample.jpg", "damaged=show")["x-damaged"] == nil)
        #expect(await server.stop() == 0)
    }

    @Test func `The setting is the default of the parameter`() async throws {
        let server = try await server(["--damaged", "show"])
        #expect(try await server.image(source).status == 200)
        #expect(try await server.image(source, "damaged=refuse").status == 422)
        #expect(try await server.image(source, "damaged=yes").status == 400)
        #expect(await server.stop() == 0)
    }
}
