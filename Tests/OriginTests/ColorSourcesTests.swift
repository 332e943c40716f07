import DarkroomNetwork
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomOrigin

struct ColorSourcesTests {
    private struct Nothing: OriginFetching {
        func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse { throw .notAllowed(.host) }
    }

    @Test func `A color is a drawing of one pixel, which nobody is asked for`() async throws {
        let router = OriginRouter(remote: Nothing(), local: Nothing())
        let response = try await router.fetch(SourceURL(parsing: "color:///ff880080"))
        let text = String(buffer: response.body)
        #expect(text.contains("width=\"1\" height=\"1\"") && text.contains("rgb(255,136,0)"))
        #expect(text.contains("fill-opacity=\"0.50"))
        #expect(response.headers[.cacheControl] == "max-age=31536000")
    }

    @Test(arguments: [
        (0, "x1=\"0.5\" y1=\"1.0\" x2=\"0.5\" y2=\"0.0\""), (90, "x1=\"0.0\" y1=\"0.5\" x2=\"1.0\" y2=\"0.5\""),
        (135, "x1=\"0.0\" y1=\"0.0\" x2=\"1.0\" y2=\"1.0\""), (315, "x1=\"1.0\" y1=\"1.0\" x2=\"0.0\" y2=\"0.0\""),
    ])
    func `A gradient runs in its direction, and its ends are level with corners`(angle: Int, line: String) async throws
    {
        let url = try SourceURL(parsing: "color:///ff8800,0044cc80,\(angle)")
        let text = String(buffer: try await ColorSources().fetch(url).body)
        #expect(text.contains(line), "\(text)")
        #expect(text.contains("stop-color=\"rgb(255,136,0)\" stop-opacity=\"1.0\""))
        #expect(text.contains("stop-color=\"rgb(0,68,204)\" stop-opacity=\"0.50"))
    }

    @Test func `A size makes a drawing of that size, whose gradient has the angle itself`() async throws {
        let url = try SourceURL(parsing: "color:///ff8800,0044cc,90,600x400")
        let text = String(buffer: try await ColorSources().fetch(url).body)
        #expect(text.contains("width=\"600\" height=\"400\"") && text.contains("d=\"M-1-1H601V401H-1z\""), "\(text)")
        #expect(text.contains("x1=\"0.0\" y1=\"200.0\" x2=\"600.0\" y2=\"200.0\""), "\(text)")
        let diagonal = try SourceURL(parsing: "color:///ff8800,0044cc,45,600x400")
        #expect(
            String(buffer: try await ColorSources().fetch(diagonal).body).contains(
                "x1=\"50.0\" y1=\"450.0\" x2=\"550.0\" y2=\"-50.0\""))
    }

    @Test func `Another scheme is not a color`() async throws {
        let url = try SourceURL(parsing: "https://example.com/ff8800")
        await #expect(throws: OriginError.self) { try await ColorSources().fetch(url) }
    }
}
