import DarkroomNetwork
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomOrigin

struct ColorSourcesTests {
    private struct Nothing: OriginFetching {
        func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse { throw .notAllowed(.host) }
    }

    @Test func `a color is a drawing of one pixel, which nobody is asked for`() async throws {
        let router = OriginRouter(remote: Nothing(), local: Nothing())
        let response = try await router.fetch(SourceURL(parsing: "color:///ff880080"))
        let text = String(buffer: response.body)
        #expect(text.contains("width=\"1\" height=\"1\"") && text.contains("rgb(255,136,0)"))
        #expect(text.contains("fill-opacity=\"0.50"))
        #expect(response.headers[.cacheControl] == "max-age=31536000")
    }

    @Test func `another scheme is not a color`() async throws {
        let url = try SourceURL(parsing: "https://example.com/ff8800")
        await #expect(throws: OriginError.self) { try await ColorSources().fetch(url) }
    }
}
