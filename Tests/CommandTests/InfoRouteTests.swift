import DarkroomTransforms
import Foundation
import NIOCore
import NIOFoundationCompat
import Testing

/// `GET /info` and the text formats, through the built executable and a real socket.
@Suite(.timeLimit(.minutes(5)))
struct InfoRouteTests {
    private struct Document: Decodable, Equatable {
        var format: String
        var sha256: String
        var width: Int
        var uprightWidth: Int
        var metadata: [String: String]
        var palette: [String]?
        var blurhash: String?

        enum CodingKeys: String, CodingKey {
            case format, sha256, width, metadata, palette, blurhash
            case uprightWidth = "upright_width"
        }
    }

    private func server() async throws -> DarkroomProcess {
        try await DarkroomProcess(["--local-root", URL.fixtures.path])
    }

    private func info(_ server: DarkroomProcess, _ name: String, _ rest: String = "") async throws -> Answer {
        try await Client.get("\(server.base)/info?url=local:///\(name)\(rest)")
    }

    @Test func `A source is told as JSON, and where it was taken is not`() async throws {
        let server = try await server()
        let answer = try await info(server, "sample.jpg")
        #expect(answer.status == 200)
        #expect(answer["content-type"] == "application/json")
        #expect(answer["x-content-type-options"] == "nosniff")
        #expect(answer["etag"] != nil)
        let document = try JSONDecoder().decode(Document.self, from: answer.body)
        #expect(document.format == "jpeg")
        #expect(document.width == 1067)
        #expect(document.uprightWidth == 1600)
        #expect(document.metadata["artist"] == "Darkroom contributors")
        #expect(document.palette == nil)
        #expect(!String(buffer: answer.body).contains("GPS"))
        #expect(await server.stop() == 0)
    }

    @Test func `A source whose pixels are damaged is described, before and after its image has failed`() async throws {
        let folder = try URL.temporaryFolder()
        let sample = try Data(contentsOf: URL.fixtures.appendingPathComponent("sample.jpg"))
        try sample.prefix(sample.count / 2).write(to: folder.appendingPathComponent("half.jpg"))
        let server = try await DarkroomProcess(["--local-root", folder.path])
        for _ in 0..<2 {
            for target in ["/info?url=local:///half.jpg", "/srcset?url=local:///half.jpg"] {
                #expect(try await Client.get(server.base + target).status == 200, "\(target)")
            }
            for query in ["w=20", "w=200&output=webp", "output=blurhash"] {
                let answer = try await server.image("local:///half.jpg", query)
                #expect(answer.status == 422, "\(query)")
                #expect(answer["cross-origin-resource-policy"] == "cross-origin")
            }
        }
        #expect(await server.stop() == 0)
    }

    @Test func `Details are cached like a picture, and answered with 304 to who has them`() async throws {
        let server = try await server()
        let first = try await info(server, "sample.jpg", "&fields=palette,blurhash")
        let document = try JSONDecoder().decode(Document.self, from: first.body)
        #expect(document.blurhash?.utf8.count == 28)
        #expect(document.palette?.isEmpty == false)
        let same = try await server.image("local:///sample.jpg", "output=json&fields=blurhash,palette")
        #expect(same["cache-status"]?.contains("hit") == true)
        #expect(same.body == first.body)
        let etag = try #require(first["etag"])
        let known = try await Client.get(
            "\(server.base)/info?url=local:///sample.jpg&fields=palette,blurhash",
            fields: [("If-None-Match", etag)])
        #expect(known.status == 304)
        #expect(await server.stop() == 0)
    }

    @Test func `A header-only answer leaves nothing behind until the source was decoded once`() async throws {
        let server = try await server()
        for _ in 0..<2 {
            #expect(try await info(server, "sample.jpg")["cache-status"]?.contains("fwd=miss") == true)
        }
        _ = try await server.image("local:///sample.jpg", "w=50")
        _ = try await info(server, "sample.jpg")
        #expect(try await info(server, "sample.jpg")["cache-status"]?.contains("hit") == true)
        #expect(await server.stop() == 0)
    }

    @Test func `Where a document is cached is told beside it, and leaves the document as it was`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600", "ETag: \"a\""))
        let server = try await DarkroomProcess(["--allow-networks", "127.0.0.0/8"])
        let target = "\(server.base)/info?url=\(origin.url())&fields=color"
        let plain = try await Client.get(target)
        let told = try await Client.get(target + ",cache", fields: [("If-None-Match", plain["etag"] ?? "")])
        #expect(told.status == 200)
        #expect(told["cache-control"] == "no-store")
        #expect(told["etag"] == nil)
        #expect(told["cache-status"]?.contains("hit") == true)
        let text = String(buffer: told.body)
        #expect(text.hasPrefix(String(buffer: plain.body).dropLast()))
        let json = try JSONSerialization.jsonObject(with: Data(buffer: told.body)) as? [String: Any]
        let cache = try #require(json?["cache"] as? [String: Any])
        #expect((cache["origin"] as? [String: String])?["cache-control"] == "max-age=600")
        #expect((cache["original"] as? [String: Bool])?["memory"] == true)
        #expect((cache["variant"] as? [String: Bool])?["memory"] == true)
        #expect(cache["fresh"] as? Bool == true)
        #expect((1...600).contains(cache["remaining_seconds"] as? Int ?? 0))
        #expect(try await Client.get(target).body == plain.body)
        #expect(origin.count == 1)
        #expect(await server.stop() == 0)
    }

    @Test func `A position is told with leave alone, and under a key of its own`() async throws {
        let closed = try await server()
        let refused = try await info(closed, "sample.jpg", "&gps=true")
        #expect(refused.status == 403)
        #expect(refused.problem?.type == "/problems/gps-not-allowed")
        #expect(await closed.stop() == 0)
        let open = try await DarkroomProcess(["--local-root", URL.fixtures.path, "--allow-gps", "true"])
        for query in ["&fields=color&gps=true", "&gps"] {
            let told = String(buffer: try await info(open, "sample.jpg", query).body)
            #expect(told.contains(#""gps":{"latitude":46.5,"longitude":8.25}"#))
        }
        for query in ["&fields=color", "&fields=all", ""] {
            #expect(!String(buffer: try await info(open, "sample.jpg", query).body).contains("gps"))
        }
        #expect(await open.stop() == 0)
    }

    @Test(arguments: [
        ("blurhash", "^[0-9A-Za-z#$%*+,.:;=?@\\[\\]^_{|}~-]{28}$"), ("thumbhash", "^[0-9A-Za-z+/=]{20,40}$"),
        ("color", "^#[0-9a-f]{6}$"), ("lqip", "^data:image/webp;base64,[0-9A-Za-z+/=]+$"),
    ])
    func `Placeholders are plain text`(format: String, pattern: String) async throws {
        let server = try await server()
        let answer = try await server.image("local:///sample.jpg", "w=300&output=\(format)")
        #expect(answer.status == 200)
        #expect(answer["content-type"] == "text/plain")
        #expect(String(buffer: answer.body).contains(try Regex(pattern)))
        #expect(await server.stop() == 0)
    }

    @Test(arguments: [("w=1", "w"), ("fields=gps", "fields"), ("output=json", "output")])
    func `What means nothing for information is refused by name`(query: String, parameter: String) async throws {
        let server = try await server()
        let answer = try await info(server, "sample.jpg", "&\(query)")
        #expect(answer.status == 400)
        #expect(answer.problem?.parameter == parameter)
    }

    @Test func `Every fixture whose header is well is told, and no other fails but as a problem`() async throws {
        let server = try await server()
        for row in try Fixture.all() {
            let answer = try await info(server, row.path)
            if row.status == 200 { #expect(answer.status == 200, "\(row.path)") }
            let json = try? JSONSerialization.jsonObject(with: Data(buffer: answer.body))
            #expect(json is [String: Any], "\(row.path)")
            #expect([200, 413, 415, 422].contains(answer.status), "\(row.path): \(answer.status)")
        }
        #expect(await server.stop() == 0)
    }
}
