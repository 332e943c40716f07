import DarkroomRequests
import DarkroomTestOrigin
import DarkroomTransforms
import Foundation
import NIOCore
import NIOFoundationCompat
import Testing

/// `GET /explain` and `GET /cache/entries`, through the built executable and a real socket.
@Suite(.timeLimit(.minutes(5)))
struct ExplainRouteTests {
    private static let token = "a-token-of-enough-letters"
    private let admin = [("Authorization", "Bearer \(Self.token)")]

    private struct Explanation: Decodable {
        struct Request: Decodable { var canonical: String }

        struct Freshness: Decodable {
            var decision: String
            var because: String
            var rfc: String?
        }

        struct Format: Decodable { var name: String? }

        struct Plan: Decodable {
            struct Output: Decodable {
                var width: Int
                var height: Int
                var frames: Int
            }

            var shrinkOnLoad: Double
            var output: Output
        }

        var request: Request
        var caches: [Entry]
        var freshness: Freshness
        var format: Format
        var plan: Plan?
        var planMissing: String?
    }

    private struct Entry: Decodable {
        var entry: String
        var key: String
        var memory: Bool
        var disk: Bool
        var bytes: Int?
        var ageSeconds: Double?
        var hits: Int?
        var format: String?
    }

    private struct Entries: Decodable {
        var url: String
        var contentSha256: String?
        var fetched: String?
        var origin: [String: String]?
        var entries: [Entry]
    }

    private func decoded<Document: Decodable>(_ answer: Answer, as type: Document.Type) throws -> Document {
        #expect(answer.status == 200)
        #expect(answer["cache-control"] == "no-store")
        #expect(answer["x-request-id"] != nil)
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return try decoder.decode(type, from: answer.body)
    }

    private func server(_ flags: [String] = [], cache: URL? = nil) async throws -> DarkroomProcess {
        try await DarkroomProcess(
            ["--allow-networks", "127.0.0.0/8", "--admin-token", Self.token, "--local-root", URL.fixtures.path] + flags,
            cache: cache)
    }

    private func explain(_ server: DarkroomProcess, _ source: String, _ query: String = "") async throws -> Answer {
        try await Client.get("\(server.base)/explain?url=\(source)\(query)")
    }

    private func entries(_ server: DarkroomProcess, _ source: String) async throws -> Answer {
        try await Client.get("\(server.base)/cache/entries?url=\(source)", fields: admin)
    }

    @Test func `An explanation asks nobody until it is told to, keeps nothing, and says what is cached`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let server = try await server()
        let cold = try decoded(try await explain(server, origin.url(), "&w=100"), as: Explanation.self)
        #expect(origin.count == 0)
        #expect(cold.freshness.because == "miss")
        #expect(cold.plan == nil)
        #expect(cold.planMissing?.contains("fetch") == true)
        let fetched = try decoded(try await explain(server, origin.url(), "&w=100&fetch=true"), as: Explanation.self)
        #expect(origin.count == 1)
        #expect(fetched.plan?.output.height == 67)
        #expect(fetched.plan?.shrinkOnLoad == 8)
        #expect(fetched.caches.allSatisfy { !$0.memory && !$0.disk })
        #expect(try await server.image(origin.url(), "w=100&wait=stored").cacheStatus.contains("fwd=miss"))
        #expect(origin.count == 2)
        let warm = try decoded(try await explain(server, origin.url(), "&w=50&dpr=2&fetch"), as: Explanation.self)
        #expect(warm.caches.map(\.entry) == ["record", "original", "variant"])
        #expect(warm.caches.allSatisfy { $0.memory && $0.disk && $0.bytes != nil })
        #expect(warm.freshness.decision == "use")
        #expect(warm.freshness.rfc == "RFC 9111 §5.2.2.1")
        #expect(warm.format.name == "jpg")
        #expect(warm.request.canonical.hasSuffix("&w=100"))
        #expect(origin.count == 2)
        #expect(try await Client.get(server.base + warm.request.canonical).cacheStatus.contains("hit"))
        #expect(await server.stop() == 0)
    }

    @Test func `For every fixture the plan's result is the picture's`() async throws {
        let server = try await server()
        for row in try Fixture.all() where row.outcome == "decode" {
            for query in ["&w=33&output=png", "&w=30&h=40&fit=cover&output=webp", "&h=25&fit=fill&ro=90"] {
                let source = "local:///\(row.path)"
                let answer = try await explain(server, source, query + "&fetch")
                let plan = try #require(try decoded(answer, as: Explanation.self).plan)
                let picture = try await Client.get("\(server.base)/image?url=\(source)\(query)")
                let header = try SourceHeader(of: picture.body)
                #expect(header.size == PixelSize(width: plan.output.width, height: plan.output.height), "\(row.path)")
                // Its frames are alike, and WebP merges such frames.
                if row.path == "hostile/many-frames.gif" { continue }
                #expect(header.frames == plan.output.frames, "\(row.path)\(query)")
            }
        }
        #expect(await server.stop() == 0)
    }

    @Test func `What a picture would fail with is what an explanation fails with`() async throws {
        let origin = try await PictureOrigin(.status("404 Not Found"))
        let server = try await server()
        for (source, query, status) in [
            ("http://10.0.0.1/a.jpg", "", 403), ("local:///%252e%252e/a", "", 403),
            ("local:///sample.jpg", "&w=x", 400),
            ("local:///sample.jpg", "&crop=0,0,9999,1&fetch", 400), ("local:///none.jpg", "&fetch", 404),
            (origin.url(), "&fetch", 404), (origin.url(), "", 404), ("local:///sample.jpg", "&cache=reload", 403),
        ] {
            #expect(try await explain(server, source, query).status == status, "\(source)\(query)")
        }
        #expect(origin.count == 1)
        #expect(await server.stop() == 0)
    }

    @Test func `Entries are told with the token, before and after a restart`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600", "ETag: \"a\""))
        let cache = try URL.temporaryFolder()
        let server = try await server(cache: cache)
        #expect(try decoded(try await entries(server, origin.url()), as: Entries.self).entries.isEmpty)
        for width in [20, 30, 30] { _ = try await server.image(origin.url(), "w=\(width)&wait=stored") }
        let found = try decoded(try await entries(server, origin.url()), as: Entries.self)
        #expect(found.url == origin.url())
        #expect(found.contentSha256?.utf8.count == 64)
        #expect(found.fetched?.hasSuffix("Z") == true)
        #expect(found.origin == ["cache-control": "max-age=600", "etag": "\"a\""])
        #expect(found.entries.map(\.entry) == ["record", "original", "variant", "variant"])
        #expect(found.entries.allSatisfy { $0.memory && $0.disk && $0.ageSeconds != nil && $0.bytes ?? 0 > 0 })
        #expect(found.entries.dropFirst(2).allSatisfy { $0.format == "jpg" && $0.hits != nil })
        #expect(try await Client.get("\(server.base)/cache/entries?url=\(origin.url())").status == 401)
        #expect(await server.stop() == 0)
        let restarted = try await self.server(cache: cache)
        let kept = try decoded(try await entries(restarted, origin.url()), as: Entries.self)
        #expect(kept.entries.map(\.key) == found.entries.map(\.key))
        #expect(kept.entries.allSatisfy { !$0.memory && $0.disk && $0.hits == nil })
        #expect(await restarted.stop() == 0)
    }
}
