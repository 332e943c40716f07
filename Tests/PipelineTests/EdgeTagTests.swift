import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomRequests
import DarkroomStore
import Foundation
import HTTPTypes
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// The tags by which caches in front purge responses.
@Suite(.timeLimit(.minutes(5)))
struct EdgeTagTests {
    private static func source(_ url: String) -> String { EdgeTag.source(RequestKeys.source(url)) }

    private static func tagged(_ tags: String) -> HTTPFields {
        var fields = HTTPFields.control("max-age=60", etag: "a")
        fields[.surrogateKey] = tags
        return fields
    }

    /// By `printf '\0\0\0\0\0\0\0\06source\0\0\0\0\0\0\0\030http://example.com/a.png' | sha256sum`
    @Test func `The tag of a source can be computed by hand`() {
        #expect(Self.source("http://example.com/a.png") == "s-1e5a47597e5e168e")
    }

    @Test func `Every variant of a source has the same tags, on misses and on hits`() async throws {
        let bench = try Bench(Self.tagged("shoes summer"))
        let expected = [Self.source("http://example.com/a.png"), "h-example.com", "darkroom", "shoes", "summer"]
        for width in [10, 20, 10] {
            #expect(bench.pipeline.edgeTags(of: try await bench.ask(width: width)).kept == expected)
        }
        let lookup = bench.pipeline.lookup(for: try bench.request(width: 10))
        #expect(bench.pipeline.edgeTags(of: try #require(bench.pipeline.imageNow(lookup))).kept == expected)
        #expect(try await bench.pipeline.explain(bench.request(width: 30)).tags.kept == expected)
    }

    @Test func `Tags that are not stored with an image are named, each once`() async throws {
        let bench = try Bench(Self.tagged((0..<5_000).map { "t\($0)" }.joined(separator: " ") + " t4999"))
        let tags = try await bench.pipeline.edgeTags(of: bench.ask())
        #expect(tags.kept.count == 3 + 128 && tags.kept.last == "t127")
        #expect(tags.leftOut == (128..<5_000).map { "t\($0)" })
        #expect(try await bench.pipeline.explain(bench.request()).tags == tags)
    }

    @Test func `Sources that the key filter takes for one have one tag`() async throws {
        let filter = QueryDroppingFilter(
            rules: [QueryDroppingFilter.Rule(hostPattern: "*", parameterPatterns: ["utm_*"])])
        let bench = try Bench(.control("max-age=60"), keyFilter: filter)
        let tags = try await bench.pipeline.edgeTags(of: bench.ask("http://example.com/a.png?utm_source=x")).kept
        #expect(tags.first == Self.source("http://example.com/a.png"))
    }

    @Test func `An image with a mark has the mark's tags too, also on the fast path`() async throws {
        let bench = try Bench.withMark(Self.tagged("shoes"), mark: Self.tagged("brand"))
        let request = try bench.markedRequest()
        let mark = try #require(request.mark?.canonical)
        let image = try await bench.pipeline.image(for: request)
        let expected = [
            Self.source(request.source.canonical), Self.source(mark), "h-example.com", "h-marks.net", "darkroom",
            "shoes",
            "brand",
        ]
        #expect(bench.pipeline.edgeTags(of: image).kept == expected)
        let lookup = bench.pipeline.lookup(for: request)
        #expect(bench.pipeline.edgeTags(of: try #require(bench.pipeline.imageNow(lookup))).kept == expected)
    }

    @Test func `The image of a fallback also has the tags of the source that failed`() async throws {
        let bench = try Bench(Self.tagged("shoes"))
        bench.origin.answer("/gone.png", .status(404, [:]))
        var request = try bench.request("http://example.net/gone.png")
        request.fallback = try SourceURL(parsing: "http://example.com/a.png")
        let image = try await bench.pipeline.image(for: request)
        #expect(
            bench.pipeline.edgeTags(of: image).kept == [
                Self.source("http://example.com/a.png"), Self.source("http://example.net/gone.png"), "h-example.com",
                "h-example.net", "darkroom", "shoes",
            ])
        #expect(
            bench.pipeline.edgeTags(of: request).kept == [
                Self.source("http://example.net/gone.png"), "h-example.net", "darkroom",
            ])
    }

    @Test(arguments: [
        (PurgeTarget.host("example.com"), "h-example.com"), (.host("2001:db8::1"), "h-2001-db8--1"),
        (.tag("shoes"), "shoes"), (.everything, "darkroom"), (.prefix("https://example.com/shop/a"), "h-example.com"),
        (.prefix("https://example.com:8443/"), "h-example.com"), (.prefix("http://[2001:db8::1]/"), "h-2001-db8--1"),
        (.prefix("https://example.co"), "darkroom"), (.prefix("s3://media/a"), "h-media"),
        (.prefix("s3://me"), "darkroom"), (.prefix("local:///a"), "local"),
    ])
    func `A purge is told by a tag that removes at least as much`(target: PurgeTarget, tag: String) throws {
        let bench = try Bench()
        #expect(bench.pipeline.edgeTags(of: target) == [tag])
    }

    @Test func `A purge of an address is told by the tag that its responses have`() async throws {
        let bench = try Bench(.control("max-age=60"))
        let tags = try await bench.pipeline.edgeTags(of: bench.ask()).kept
        #expect(bench.pipeline.edgeTags(of: .source(.example)) == [try #require(tags.first)])
    }

    @Test func `Local files have a tag in place of a host`() { #expect(EdgeTag.host("") == "local") }
}
