import DarkroomRequests
import DarkroomTestOrigin
import DarkroomTransforms
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import Testing

/// The options that people know from NSURLCache, SDWebImage, SDImageCache, AFNetworking and AWebImage, through the
/// built executable and a real origin. The README's table of names points here.
@Suite(.timeLimit(.minutes(10)))
struct CacheOptionTests {
    private static let token = "a-token-of-enough-letters"

    private func server(_ flags: [String] = [], cache: URL? = nil) async throws -> DarkroomProcess {
        try await DarkroomProcess(
            ["--allow-networks", "127.0.0.0/8", "--admin-token", Self.token] + flags, cache: cache)
    }

    private let admin = [("Authorization", "Bearer \(Self.token)")]

    // MARK: NSURLRequest's cache policies

    @Test(arguments: [
        ("default", "hit", 1), ("force-cache", "hit", 1), ("only-if-cached", "hit", 1),
        ("no-cache", "fwd=request;fwd-status=304", 2), ("reload", "fwd=request;fwd-status=200", 2),
        ("no-store", "fwd=request;fwd-status=200", 2),
    ])
    func `cache= does what the Fetch standard says`(mode: String, status: String, requests: Int) async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=60", "ETag: \"a\""))
        let server = try await server()
        _ = try await server.image(origin.url(), "w=20")
        let answer = try await server.image(origin.url(), "w=20&cache=\(mode)", fields: admin)
        #expect(answer.status == 200)
        #expect(answer.cacheStatus.contains(status))
        #expect(origin.count == requests)
        if mode == "reload" || mode == "no-store" {
            #expect(origin.requests.last?.fields["cache-control"] == "no-cache")
        }
    }

    @Test(arguments: ["reload", "no-store", "no-cache", "refresh"])
    func `Who brings no token cannot make us ask an origin`(mode: String) async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=60"))
        let closed = try await server()
        let refused = try await closed.image(origin.url(), "w=20&cache=\(mode)")
        #expect(refused.status == 403)
        #expect(refused.problem?.type == "/problems/refresh-not-allowed")
    }

    @Test(arguments: ["cache=only-if-cached", ""])
    func `An answer from the cache only is 504 where there is none`(query: String) async throws {
        let origin = try await PictureOrigin(.picture())
        let answer = try await server().image(
            origin.url(), "w=20&\(query)", fields: query.isEmpty ? [("Cache-Control", "only-if-cached")] : [])
        #expect(answer.status == 504)
        #expect(answer.problem?.type == "/problems/not-cached")
        #expect(origin.count == 0)
    }

    @Test(arguments: [
        ("--cache-memory-bytes", "hit;ttl=;detail=disk", 1), ("--cache-disk-bytes", "hit;ttl=;detail=memory", 1),
    ])
    func `A tier of no bytes is none`(setting: String, status: String, requests: Int) async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let server = try await server([setting, "0"])
        let wait = setting == "--cache-memory-bytes" ? "&wait=stored" : ""
        _ = try await server.image(origin.url(), "w=20\(wait)")
        let answer = try await server.image(origin.url(), "w=20")
        #expect(answer.cacheStatus.replacing(/ttl=[0-9]+/, with: "ttl=").contains(status))
        #expect(origin.count == requests)
    }

    @Test func `Without any tier every request asks the origin`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=60"))
        let server = try await server(["--cache-memory-bytes", "0", "--cache-disk-bytes", "0"])
        for _ in 0..<2 { #expect(try await server.image(origin.url(), "w=20").status == 200) }
        #expect(origin.count == 2)
    }

    // MARK: SDWebImageOptions

    @Test func `RetryFailed: a failure ends by itself, and at once for who may insist`() async throws {
        let origin = try await PictureOrigin(.status("404 Not Found"))
        let server = try await server()
        #expect(try await server.image(origin.url(), "w=20").status == 404)
        let remembered = try await server.image(origin.url(), "w=20")
        #expect(remembered.status == 404)
        #expect(remembered.cacheStatus.contains("hit"))
        #expect(remembered["proxy-status"]?.contains("received-status=404") == true)
        #expect(origin.count == 1)
        origin.answer(try .picture())
        #expect(try await server.image(origin.url(), "w=20&cache=reload", fields: admin).status == 200)
        #expect(try await server.image(origin.url(), "w=20").status == 200)
    }

    @Test(arguments: [
        ("memory", "detail=memory", "fwd=miss"), ("original", "detail=original-memory", "detail=original-disk"),
        ("variant", "detail=memory", "detail=disk"), ("all", "detail=memory", "detail=disk"),
        ("none", "fwd=miss", "fwd=miss"),
    ])
    func `store= keeps in memory and on disk what it says`(store: String, next: String, restarted: String) async throws
    {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let cache = try URL.temporaryFolder()
        let first = try await server(cache: cache)
        _ = try await first.image(origin.url(), "w=20&store=\(store)&wait=stored")
        #expect(try await first.image(origin.url(), "w=20&store=none").cacheStatus.contains(next))
        #expect(await first.stop() == 0)
        let second = try await server(cache: cache)
        #expect(try await second.image(origin.url(), "w=20&store=none").cacheStatus.contains(restarted))
    }

    @Test func `RefreshCached: the cached picture now, and the origin asked behind it`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=60", "ETag: \"a\""))
        let server = try await server()
        _ = try await server.image(origin.url(), "w=20")
        let answer = try await server.image(origin.url(), "w=20&cache=refresh", fields: admin)
        #expect(answer.cacheStatus.contains("hit"))
        for await request in origin.origin.arrivals where request.index == 1 { break }
        #expect(origin.requests.last?.fields["if-none-match"] == "\"a\"")
    }

    @Test func `What a client that left had asked for is not finished`() async throws {
        let gate = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=60"))
        origin.hold(until: gate.futureResult)
        let server = try await server()
        let client = Task { try? await server.image(origin.url(), "w=20") }
        for await _ in origin.origin.arrivals { break }
        client.cancel()
        _ = await client.value
        for await _ in origin.origin.hangUps { break }
        gate.succeed()
        origin.hold(until: nil)
        #expect(try await server.image(origin.url(), "w=20").cacheStatus.contains("fwd=miss"))
        #expect(origin.count == 2)
    }

    @Test func `HandleCookies is off: none is sent, none is kept, none is passed on`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Set-Cookie: a=b", "Cache-Control: max-age=60"))
        let server = try await server()
        let answer = try await server.image(origin.url(), "w=20", fields: [("Cookie", "c=d")])
        #expect(answer["set-cookie"] == nil)
        _ = try await server.image(origin.url("/b.jpg"), "w=20")
        #expect(origin.requests.allSatisfy { $0.fields["cookie"] == nil })
    }

    @Test func `An animation is transformed whole, or its first frame alone with n=1`() async throws {
        let origin = try await PictureOrigin(.picture("animation/disposal.gif", "Cache-Control: max-age=60"))
        let server = try await server()
        let all = try await server.image(origin.url(), "w=16&output=gif")
        let first = try await server.image(origin.url(), "w=16&output=gif&n=1")
        #expect(try SourceHeader(of: all.body).frames > 1)
        #expect(try SourceHeader(of: first.body).frames == 1)
    }

    @Test func `An animated PNG is an animation in WebP and its first frame in PNG`() async throws {
        let origin = try await PictureOrigin(.picture("animation/disposal.png", "Cache-Control: max-age=60"))
        let server = try await server()
        for accept in ["image/webp,*/*", "image/avif,image/webp,*/*"] {
            let moving = try await server.image(origin.url(), "w=48&wait=best", fields: [("Accept", accept)])
            #expect(moving["content-type"] == "image/webp")
            #expect(try SourceHeader(of: moving.body).frames == 4)
        }
        let few = try await server.image(origin.url(), "output=webp&n=2&pick=even")
        #expect(try SourceHeader(of: few.body).frames == 2)
        let still = try await server.image(origin.url(), "output=png")
        let header = try SourceHeader(of: still.body)
        #expect(still.status == 200 && header.frames == 1 && header.size == PixelSize(width: 96, height: 64))
    }

    @Test func `ScaleDownLargeImages: what would be too large is scaled down where the request says so`() async throws {
        let server = try await server(["--max-output-side", "100", "--local-root", URL.fixtures.path])
        #expect(try await server.image("local:///sample.jpg").status == 413)
        let answer = try await server.image("local:///sample.jpg", "scaledown")
        #expect(answer.status == 200)
        let size = try SourceHeader(of: answer.body).size
        #expect(max(size.width, size.height) == 100)
    }

    @Test func `WaitStoreCache: the picture is on disk when the answer comes`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let cache = try URL.temporaryFolder()
        let server = try await server(cache: cache)
        let answer = try await server.image(origin.url(), "w=20&wait=stored")
        #expect(answer.cacheStatus.contains("stored"))
        kill(server.identifier, SIGKILL)
        let restarted = try await self.server(cache: cache)
        #expect(try await restarted.image(origin.url(), "w=20").cacheStatus.contains("detail=disk"))
        #expect(origin.count == 1)
    }

    @Test func `Priorities of RFC 9218 and of the query are taken, and a bad one is named`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=60"))
        let server = try await server()
        #expect(try await server.image(origin.url(), "w=20", fields: [("Priority", "u=1, i")]).status == 200)
        #expect(try await server.image(origin.url(), "w=21&priority=low").status == 200)
        #expect(try await server.image(origin.url(), "w=21&priority=urgent").problem?.parameter == "priority")
    }

    // MARK: SDImageCache, AWebImage

    @Test func `Memory, disk and what has expired can be cleared apart`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        let server = try await server()
        _ = try await server.image(origin.url(), "w=20&wait=stored")
        #expect(try await server.purge("all=true&tier=memory", admin).status == 200)
        #expect(try await server.image(origin.url(), "w=20").cacheStatus.contains("detail=disk"))
        #expect(try await server.purge("all=true&tier=disk", admin).status == 200)
        #expect(try await server.image(origin.url(), "w=20").cacheStatus.contains("detail=memory"))
        #expect(try await server.purge("expired=true", admin).status == 200)
    }

    @Test func `One download serves every caller of an address, whatever the width`() async throws {
        let gate = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=60"))
        origin.hold(until: gate.futureResult)
        let server = try await server()
        try await withThrowingTaskGroup(of: Answer.self) { group in
            for width in 1...40 { group.addTask { try await server.image(origin.url(), "w=\(20 + width % 8)") } }
            for await _ in origin.origin.arrivals { break }
            gate.succeed()
            for try await answer in group { #expect(answer.status == 200) }
        }
        #expect(origin.count == 1)
    }
}

extension Answer {
    var cacheStatus: String { self["cache-status"] ?? "" }
}

extension DarkroomProcess {
    /// `DELETE /cache` with a query.
    func purge(_ query: String, _ fields: [(String, String)]) async throws -> Answer {
        try await Client.get("\(base)/cache?\(query)", method: .DELETE, fields: fields)
    }
}
