import DarkroomTestOrigin
import Foundation
import Testing

/// What RFC 9111, 5861, 9209 and 9211 say, seen through the built executable by a client and an origin.
@Suite(.timeLimit(.minutes(5)))
struct FreshnessRouteTests {
    private func server(_ flags: [String] = []) async throws -> DarkroomProcess {
        try await DarkroomProcess(["--allow-networks", "127.0.0.0/8"] + flags)
    }

    @Test func `Age, Cache-Control and Last-Modified describe the original`() async throws {
        let origin = try await PictureOrigin(
            .picture(
                "sample.jpg", "Cache-Control: max-age=600, stale-while-revalidate=30", "Age: 100",
                "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"))
        let server = try await server()
        for _ in 0..<2 {
            let answer = try await server.image(origin.url(), "w=20")
            let age = try #require(answer["age"].flatMap { Int($0) })
            #expect((100...160).contains(age))
            #expect(answer["cache-control"]?.contains("max-age=600") == true)
            #expect(answer["last-modified"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        }
        let shorter = try await server.image(origin.url(), "w=20&maxage=60s")
        // From now on, of which the origin's cache and the time since then are no part.
        let maxAge = try #require(shorter["cache-control"]?.firstMatch(of: /max-age=([0-9]+)/)?.1)
        #expect((160...220).contains(Int(maxAge) ?? 0))
        let longer = try await server.image(origin.url(), "w=20&maxage=1d")
        #expect(longer["cache-control"]?.contains("max-age=600") == true)
    }

    /// An origin's words, the settings, and whether a second request asks again.
    @Test(arguments: [
        (["Cache-Control: max-age=60"], [String](), false), (["Cache-Control: no-store"], [], true),
        (["Cache-Control: private, max-age=60"], [], true), (["Cache-Control: max-age=60, s-maxage=0"], [], true),
        (["Cache-Control: no-store", "CDN-Cache-Control: max-age=60"], [], false), (["Vary: *"], [], true),
        ([], [], false), ([], ["--default-fresh", "0s"], true),
        (["Cache-Control: no-store"], ["--respect-origin", "false"], false),
        (["Cache-Control: max-age=0"], ["--min-fresh", "1h"], false),
    ])
    func `Origin and operator decide together how long a picture is fresh`(
        fields: [String], flags: [String], asks: Bool
    ) async throws {
        var answer = try PictureOrigin.Answer.picture()
        answer.fields = fields
        let origin = try await PictureOrigin(answer)
        let server = try await server(flags)
        for _ in 0..<2 { #expect(try await server.image(origin.url(), "w=20").status == 200) }
        #expect(origin.count == (asks ? 2 : 1))
    }

    /// An origin's status and word, the settings, the status of our answer, and whether a second request asks again.
    @Test(arguments: [
        ("203 Other", "max-age=60", [String](), 200, false), ("299 Odd", "max-age=60", [], 200, false),
        ("203 Other", "public", [], 200, false), ("201 Created", "public", [], 200, true),
        ("202 Accepted", "no-store", [], 200, true),
        ("206 Partial Content", "max-age=60", [], 200, false),
        ("403 No", "max-age=60", [], 403, false), ("599 Odd", "s-maxage=60", ["--failure-memory", "0"], 502, false),
        ("500 Oops", "max-age=0", ["--failure-memory", "0"], 502, true), ("503 Soon", "public", [], 502, false),
    ])
    func `Any success may be an image, and failures are remembered as long as they state`(
        status: String, control: String, flags: [String], expected: Int, asks: Bool
    ) async throws {
        var answer = try PictureOrigin.Answer.picture("sample.jpg", "Cache-Control: \(control)")
        answer.status = status
        let origin = try await PictureOrigin(answer)
        let server = try await server(flags)
        for _ in 0..<2 {
            let answer = try await server.image(origin.url(), "w=20")
            #expect(answer.status == expected)
            let isAsked = answer["cache-status"]?.contains("fwd-status=\(status.prefix(3))") ?? true
            #expect(isAsked || !asks)
        }
        #expect(origin.count == (asks ? 2 : 1))
    }

    @Test func `Within stale-while-revalidate the stale picture comes at once, and the new one after it`() async throws
    {
        let origin = try await PictureOrigin(
            .picture("sample.jpg", "Cache-Control: max-age=0, stale-while-revalidate=600", "ETag: \"a\""))
        let server = try await server()
        let old = try await server.image(origin.url(), "w=20")
        origin.answer(
            try .picture("formats/photo.jpg", "Cache-Control: max-age=600, stale-while-revalidate=600", "ETag: \"b\""))
        let stale = try await server.image(origin.url(), "w=20")
        #expect(stale.cacheStatus.contains("hit"))
        #expect(stale["etag"] == old["etag"])
        while try await server.image(origin.url(), "w=20")["etag"] == old["etag"] { await Task.yield() }
        #expect(origin.count == 2)
    }

    @Test func `A stale picture stands in for a failing origin, and both fields say so`() async throws {
        let origin = try await PictureOrigin(
            .picture("sample.jpg", "Cache-Control: max-age=0, stale-if-error=600", "ETag: \"a\""))
        let server = try await server()
        _ = try await server.image(origin.url(), "w=20")
        origin.answer(.status("503 Busy", "Retry-After: 30"))
        for _ in 0..<2 {
            let answer = try await server.image(origin.url(), "w=20")
            #expect(answer.status == 200)
            #expect(answer.cacheStatus.contains("hit;ttl="))
            #expect(answer["proxy-status"]?.contains("received-status=503") == true)
        }
        #expect(origin.count == 2)
    }

    @Test func `A failure is told with Proxy-Status, and remembered with Retry-After`() async throws {
        let origin = try await PictureOrigin(.status("503 Busy", "Retry-After: 100"))
        let server = try await server()
        let first = try await server.image(origin.url(), "w=20")
        #expect(first.status == 502)
        #expect(first["proxy-status"]?.contains("received-status=503") == true)
        let second = try await server.image(origin.url(), "w=20")
        #expect(second.status == 502)
        #expect(second.cacheStatus.contains("detail=failure"))
        #expect(second["retry-after"].flatMap { Int($0) }.map { (40...100).contains($0) } == true)
        #expect(origin.count == 1)
        let refused = try await server.image("http://127.0.0.1:1/a.jpg", "w=20")
        #expect(refused["proxy-status"]?.contains("error=connection_refused") == true)
    }

    @Test func `A host that cannot be connected to is left alone after five failures`() async throws {
        let server = try await server()
        var last: Answer?
        for number in 0..<6 { last = try await server.image("http://127.0.0.1:1/\(number).jpg", "w=20") }
        #expect(last?.status == 503)
        #expect(last?.problem?.type == "/problems/origin-unavailable")
        #expect(last?["proxy-status"]?.contains("destination_unavailable") == true)
        #expect(last?["retry-after"] != nil)
    }

    @Test func `A fallback picture takes the place of one that is gone`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: max-age=600"))
        origin.answer("/gone.jpg", .status("404 Not Found"))
        let server = try await server()
        let fallback = origin.url().replacing("/", with: "%2F").replacing(":", with: "%3A")
        let answer = try await server.image(origin.url("/gone.jpg"), "w=20&output=png&default=\(fallback)")
        #expect(answer.status == 200)
        #expect(answer["content-type"] == "image/png")
        #expect(answer["proxy-status"]?.contains("received-status=404") == true)
        let maxAge = answer["cache-control"]?.split(separator: "max-age=").last.flatMap {
            Int($0.prefix { $0.isNumber })
        }
        #expect(maxAge.map { $0 <= 60 + 5 } == true)
        let forbidden = try await server.image(
            origin.url("/gone.jpg"), "w=20&default=http%3A%2F%2F169.254.169.254%2Fa.jpg")
        #expect(forbidden.status == 403)
    }

    @Test func `A 304 spares the pixel threads, and the client gets one too`() async throws {
        let origin = try await PictureOrigin(.picture("sample.jpg", "Cache-Control: no-cache", "ETag: \"a\""))
        let server = try await server()
        let first = try await server.image(origin.url(), "w=20")
        let second = try await server.image(origin.url(), "w=20", fields: [("If-None-Match", first["etag"] ?? "")])
        #expect(second.status == 304)
        #expect(second.cacheStatus.contains("fwd=stale;fwd-status=304"))
        #expect(second["server-timing"]?.contains("process") == false)
        #expect(origin.requests.last?.fields["if-none-match"] == "\"a\"")
    }
}
