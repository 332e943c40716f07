import Foundation
import NIOCore
import Testing

/// Icons and bitmaps from an origin, through the built executable and its workers.
@Suite(.timeLimit(.minutes(5)))
struct IconRouteTests {
    @Test(arguments: [
        "image/vnd.microsoft.icon", "image/x-icon", "application/octet-stream", "text/plain", "image/png",
    ])
    func `A favicon is an icon, whatever its origin calls it`(type: String) async throws {
        let origin = try await PictureOrigin(.picture("icons/favicon.ico", "Content-Type: \(type)"))
        let server = try await DarkroomProcess(["--allow-networks", "127.0.0.0/8"])
        let answer = try await server.image(origin.url("/favicon.ico"), "w=32")
        #expect(answer.status == 200)
        #expect(answer["content-type"] == "image/png")
        // The width in a PNG's header.
        #expect(answer.body.getInteger(at: 16, as: UInt32.self) == 32)
        #expect(await server.stop() == 0)
    }

    @Test func `Each hostile icon and bitmap is a problem, and no worker dies of it`()
        async throws
    {
        let server = try await DarkroomProcess([
            "--local-root", URL.fixtures.path, "--admin-token", "token-of-this-test",
        ])
        let problems = [
            ("outside.ico", "corrupt-image"), ("count.ico", "corrupt-image"), ("truncated.ico", "corrupt-image"),
            ("bomb.ico", "source-too-large"), ("bomb.bmp", "source-too-large"), ("negative-width.bmp", "corrupt-image"),
            ("outside.bmp", "corrupt-image"), ("truncated-runs.bmp", "corrupt-image"),
            ("jpeg.bmp", "unsupported-image"),
        ]
        for (name, problem) in problems {
            let answer = try await server.image("local:///hostile/\(name)", "w=16")
            #expect(answer.problem?.type == "/problems/\(problem)", "\(name)")
        }
        #expect(try await server.image("local:///bitmaps/rle8.bmp", "w=16").status == 200)
        let metrics = try await Client.get(
            "\(server.base)/metrics", fields: [("Authorization", "Bearer token-of-this-test")])
        #expect(String(buffer: metrics.body).contains(#"darkroom_worker_ends_total{reason="crashed"} 0"#))
        #expect(await server.stop() == 0)
    }
}
