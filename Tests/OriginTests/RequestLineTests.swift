import DarkroomNetwork
import DarkroomTestOrigin
import DarkroomTestRandom
import NIOPosix
import Testing

@testable import DarkroomOrigin

/// The bytes of request lines, as an origin receives them.
@Suite(.timeLimit(.minutes(15)))
struct RequestLineTests {
    @Test(
        "escapes that are not UTF-8 and characters that browsers do not encode reach the origin unchanged",
        arguments: [
            "/bilder/Gr%FC%DFe.jpg", "/%b0%a1.png?name=%b0%a1", "/x%ff.png?key=1", "/%00", "/it's|[1]",
            "/?q=a|b[c]\\^`{}", "/100%.jpg", "/%", "/%zz?%",
        ])
    func unchanged(target: String) async throws {
        try await withOrigin { _ in
            [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url(target))
            #expect(origin.requests.map(\.target) == [target])
        }
    }

    @Test func `A name of the source map never leads to another path of its host`() async throws {
        try await withOrigin { _ in
            [.respond()]
        } _: { client, origin async throws in
            var map = SourceMap()
            try map.add("shop", "http://127.0.0.1:\(origin.port)/public/")
            _ = try await client.fetch(map.source("shop:x%ff.png?key=1").url)
            #expect(origin.requests.map(\.target) == ["/public/x%ff.png?key=1"])
        }
    }

    @Test func `A redirect to escapes that are not UTF-8 keeps them`() async throws {
        try await withOrigin {
            $0.target == "/" ? [.redirect(to: "/caf%E9?%fc")] : [.respond()]
        } _: { client, origin async throws in
            _ = try await client.fetch(origin.url())
            #expect(origin.requests.map(\.target) == ["/", "/caf%E9?%fc"])
        }
    }

    @Test func `The request line that an origin receives is the vetted URL, for 10,000 random URLs`() async throws {
        var random = SeededRandom(seed: 43)
        let targets = (0..<10_000).map { _ in Self.randomTarget(&random) }
        try await withOrigin { _ in
            [.respond(body: "x")]
        } _: { client, origin async throws in
            let urls = try targets.map { try origin.url($0) }
            for url in urls { _ = try await client.fetch(url) }
            let requests = origin.requests
            #expect(requests.map(\.target) == urls.map(\.requestTarget))
            #expect(requests.allSatisfy { $0.method == "GET" && $0.fields["host"] == "127.0.0.1:\(origin.port)" })
        }
    }

    private static let pieces =
        ["/", "//", "..", ".", "?", "&", "=", "%FF", "%fc%DF", "%zz", "%", "%2e", "%2E%2e", "%2F", "%00", "%25", "ü"]
        + "aZ09-_~!$'()*+,;:@[]|\\^`{}\"<> ".map(String.init)

    private static func randomTarget(_ random: inout SeededRandom) -> String {
        let count = Int.random(in: 0...24, using: &random)
        return "/" + (0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined()
    }
}
