import DarkroomTestOrigin
import Foundation
import NIOCore
import NIOFoundationCompat
import NIOHTTP1
import NIOPosix
import Testing

/// `DELETE /cache` on the built executable.
@Suite(.timeLimit(.minutes(5)))
struct PurgeRouteTests {
    private static let token = "a-token-of-enough-letters"
    private let admin = [("Authorization", "Bearer \(Self.token)")]

    private func server(_ flags: [String] = [], cache: URL? = nil) async throws -> DarkroomProcess {
        try await DarkroomProcess(
            ["--allow-networks", "127.0.0.0/8", "--admin-token", Self.token] + flags, cache: cache)
    }

    private struct Report: Decodable, Equatable {
        struct Source: Decodable, Equatable {
            var url: String
            var entries: Int
            var bytes: Int
        }

        var sources: Int
        var entries: Int
        var list: [Source]?
    }

    private func report(_ answer: Answer) throws -> Report {
        #expect(answer.status == 200)
        return try JSONDecoder().decode(Report.self, from: answer.body)
    }

    private func encoded(_ url: String) -> String {
        url.replacing("/", with: "%2F").replacing(":", with: "%3A")
    }

    @Test func `A purge by address removes original, variants and failure, in memory, on disk and for the next server`()
        async throws
    {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let cache = try URL.temporaryFolder()
        let server = try await server(cache: cache)
        for width in [20, 30] { _ = try await server.image(origin.url(), "w=\(width)&wait=stored") }
        _ = try await server.image(origin.url("/b.jpg"), "w=20&wait=stored")
        let url = encoded(origin.url())
        let dry = try report(try await server.purge("url=\(url)&dry_run=true", admin))
        #expect(dry.sources == 1)
        #expect(dry.entries == 4)
        #expect(dry.list?.first?.url == origin.url())
        #expect(try await server.image(origin.url(), "w=20").cacheStatus.contains("hit"))
        #expect(try report(try await server.purge("url=\(url)", admin)).entries == 4)
        #expect(try await server.image(origin.url(), "w=20&cache=only-if-cached").status == 504)
        #expect(try await server.image(origin.url("/b.jpg"), "w=20").cacheStatus.contains("hit"))
        #expect(await server.stop() == 0)
        let restarted = try await self.server(cache: cache)
        #expect(try await restarted.image(origin.url(), "w=20&cache=only-if-cached").status == 504)
        #expect(try await restarted.image(origin.url("/b.jpg"), "w=20").cacheStatus.contains("detail=disk"))
    }

    @Test func `Prefix, host and the origin's tags find their sources after a restart too`() async throws {
        let cache = try URL.temporaryFolder()
        let origin = try await PictureOrigin(
            .picture("sample.jpg", "Cache-Control: max-age=600", "Surrogate-Key: shoes summer", "Cache-Tag: a,b"))
        let first = try await server(cache: cache)
        for path in ["/shop/1.jpg", "/shop/2.jpg", "/other.jpg"] {
            _ = try await first.image(origin.url(path), "w=20&wait=stored")
        }
        #expect(await first.stop() == 0)
        let server = try await server(cache: cache)
        for (query, count) in [
            ("prefix=\(encoded(origin.url("/shop/")))", 2), ("host=127.0.0.1", 3), ("tag=summer", 3), ("tag=b", 3),
            ("tag=winter", 0), ("all=true", 3),
        ] {
            #expect(try report(try await server.purge("\(query)&dry_run=true", admin)).sources == count, "\(query)")
        }
        #expect(try report(try await server.purge("tag=shoes", admin)).sources == 3)
        #expect(try report(try await server.purge("all=true&dry_run=true", admin)).sources == 0)
    }

    @Test func `A download in flight does not bring back what was purged`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let gate = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        origin.hold(until: gate.futureResult)
        let server = try await server()
        async let picture = server.image(origin.url(), "w=20")
        for await _ in origin.origin.arrivals { break }
        _ = try await server.purge("url=\(encoded(origin.url()))", admin)
        gate.succeed()
        #expect(try await picture.status == 200)
        #expect(try await server.image(origin.url(), "w=20&cache=only-if-cached").status == 504)
    }

    @Test func `A soft purge has the origin confirm the picture, which then needs no decode`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600", "ETag: \"a\""))
        let server = try await server()
        _ = try await server.image(origin.url(), "w=20")
        #expect(try await server.purge("url=\(encoded(origin.url()))&soft=true", admin).status == 200)
        let answer = try await server.image(origin.url(), "w=20")
        #expect(answer.cacheStatus.contains("fwd=stale;fwd-status=304"))
        #expect(answer["server-timing"]?.contains("process") == false)
    }

    @Test func `Without a token these routes say how to set one, and a wrong one is refused`() async throws {
        let closed = try await DarkroomProcess()
        let disabled = try await closed.purge("all=true", admin)
        #expect(disabled.status == 403)
        #expect(disabled.problem?.detail?.contains("admin-token") == true)
        let server = try await server()
        for fields in [[], [("Authorization", "Bearer wrong")], [("Authorization", Self.token)]] {
            let refused = try await server.purge("all=true", fields)
            #expect(refused.status == 401)
            #expect(refused["www-authenticate"]?.hasPrefix("Bearer") == true)
        }
        #expect(try await Client.get("\(server.base)/cache", method: .PUT).status == 405)
        #expect(try await server.purge("url=a&host=b", admin).status == 400)
        #expect(try await server.purge("", admin).status == 400)
    }
}
