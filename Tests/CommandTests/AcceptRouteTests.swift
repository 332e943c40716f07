import DarkroomTransforms
import Foundation
import NIOCore
import Testing

/// The formats that a server chooses for clients by what their `Accept` fields cover, through the built executable.
@Suite(.timeLimit(.minutes(5)))
struct AcceptRouteTests {
    private static let safari13 = "image/png,image/svg+xml,image/*;q=0.8,video/*;q=0.8,*/*;q=0.5"
    private static let chrome = "image/avif,image/webp,image/apng,image/svg+xml,image/*,*/*;q=0.8"

    private static let table: [(source: String, accept: String?, type: String)] = [
        ("formats/photo.avif", nil, "image/jpeg"), ("formats/photo.avif", "*/*", "image/jpeg"),
        ("formats/photo.avif", safari13, "image/jpeg"), ("formats/photo.avif", "image/jpeg", "image/jpeg"),
        ("formats/photo.avif", "image/png,image/jpeg", "image/jpeg"), ("formats/photo.avif", "image/png", "image/png"),
        ("formats/photo.avif", "image/avif", "image/avif"), ("formats/photo.avif", "image/avif;q=0,*/*", "image/jpeg"),
        ("formats/alpha.avif", safari13, "image/png"), ("formats/alpha.avif", "image/jpeg", "image/jpeg"),
        ("formats/photo.webp", nil, "image/webp"), ("formats/photo.webp", "image/*", "image/webp"),
        ("formats/photo.webp", safari13, "image/jpeg"), ("formats/photo.webp", "image/jpeg", "image/jpeg"),
        ("formats/photo.webp", "text/html,*/*;q=0.8", "image/jpeg"),
        ("formats/alpha.webp", "image/png,image/jpeg", "image/png"),
        ("animation/disposal.webp", safari13, "image/gif"), ("animation/disposal.webp", "image/png", "image/png"),
        ("animation/disposal.gif", "image/jpeg", "image/jpeg"), ("animation/disposal.gif", "*/*", "image/gif"),
        ("formats/photo.jpg", "image/png", "image/png"), ("formats/alpha.png", "image/jpeg", "image/jpeg"),
    ]

    @Test(arguments: ["", "&passthrough=auto"])
    func `A format that Accept does not cover is not sent, on misses and hits`(more: String) async throws {
        let server = try await DarkroomProcess(["--local-root", URL.fixtures.path])
        for (source, accept, type) in Self.table {
            let fields = accept.map { [("Accept", $0)] } ?? []
            for _ in 0..<3 {
                let image = try await server.image("local:///\(source)", "w=8000" + more, fields: fields)
                #expect(image["content-type"] == type, "\(source) for \(accept ?? "any client")")
                #expect(image["vary"] == "Accept")
            }
        }
        let png = [("Accept", "image/png")]
        let asked = try await server.image("local:///formats/photo.avif", "output=avif", fields: png)
        #expect(asked["content-type"] == "image/avif" && asked["vary"] == nil)
        let own = try await server.image("local:///formats/photo.webp", "output=origin", fields: png)
        #expect(own["content-type"] == "image/webp" && own["vary"] == nil)
        #expect(await server.stop() == 0)
    }

    @Test func `A path of another service without a format has the source's, if Accept covers it`() async throws {
        let thumbor = try await DarkroomProcess(["--local-root", URL.fixtures.path, "--compat", "thumbor"])
        let wsrv = try await DarkroomProcess(["--local-root", URL.fixtures.path, "--compat", "wsrv"])
        for (source, accept, type) in Self.table where !source.hasPrefix("animation") {
            let fields = accept.map { [("Accept", $0)] } ?? []
            for url in ["\(thumbor.base)/unsafe/\(source)", "\(wsrv.base)/?url=local:///\(source)"] {
                let image = try await Client.get(url, fields: fields)
                #expect(image["content-type"] == type, "\(url) for \(accept ?? "any client")")
                #expect(image["vary"]?.contains("Accept") == true)
            }
        }
        // Neither service prefers WebP to the format of the source.
        for url in ["\(thumbor.base)/unsafe/formats/photo.jpg", "\(wsrv.base)/?url=local:///formats/photo.jpg"] {
            #expect(try await Client.get(url, fields: [("Accept", Self.chrome)])["content-type"] == "image/jpeg")
        }
        #expect(await thumbor.stop() == 0)
        #expect(await wsrv.stop() == 0)
    }

    @Test func `A first format is covered too`() async throws {
        let server = try await DarkroomProcess([
            "--local-root", URL.fixtures.path, "--formats", "avif,webp", "--avif-budget", "1ms",
        ])
        for (width, accept, type) in [
            (400, Self.chrome, "image/webp"), (410, "image/avif,image/png", "image/png"),
            (420, "image/avif,image/jpeg", "image/jpeg"), (430, "image/avif", "image/avif"),
        ] {
            let fields = [("Accept", accept)]
            let image = try await server.image("local:///formats/photo.webp", "w=\(width)&enlarge=true", fields: fields)
            #expect(image["content-type"] == type, "\(accept)")
        }
        #expect(await server.stop() == 0)
    }
}
