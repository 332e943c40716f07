import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomTransforms
import HTTPTypes
import Hummingbird
import Testing

@testable import DarkroomWeb

/// `X-Quality`, for `q=auto` and `max_bytes`, and `X-Undrawn`, for drawings.
struct QualityFieldTests {
    private let target = "/image?url=https://example.com/a.jpg&q=auto"
    private let name = HTTPField.Name.quality

    @Test(arguments: [
        (ResultQuality(value: 72), "72"), (ResultQuality(value: 20, fits: false), "20;fits=?0"),
        (ResultQuality(value: nil), "lossless"), (ResultQuality(value: nil, fits: false), "lossless;fits=?0"),
        (.ofSource(), "source"), (.ofSource(fits: false), "source;fits=?0"),
    ])
    func `The quality is a field of responses to GET and HEAD, and of a 304`(
        quality: ResultQuality, field: String
    ) async throws {
        let site = TestSite { _ in .stub(quality: quality) }
        #expect(try await site.respond(target).headers[name] == field)
        #expect(try await site.respond(target, method: .head).headers[name] == field)
        let known = try await site.respond(target, fields: [.ifNoneMatch: "*"])
        #expect(known.status == .notModified && known.headers[name] == field)
    }

    @Test func `A quality that the request has fixed is no field`() async throws {
        let site = TestSite { _ in .stub() }
        #expect(try await site.respond("/image?url=https://example.com/a.jpg&q=50").headers[name] == nil)
    }

    @Test func `What of a drawing is not drawn is a field of responses to GET and HEAD, and of a 304`() async throws {
        let site = TestSite { _ in .stub(gaps: .all) }
        let expected = "css-colors, css-properties, css-rules, css-units, css-variables, fonts, foreign-object, images"
        for method in [HTTPRequest.Method.get, .head] {
            #expect(try await site.respond(target, method: method).headers[.undrawn] == expected)
        }
        #expect(try await site.respond(target, fields: [.ifNoneMatch: "*"]).headers[.undrawn] == expected)
        #expect(try await TestSite { _ in .stub() }.respond(target).headers[.undrawn] == nil)
    }

    @Test func `A target without q=auto names the parameter that is missing`() async throws {
        let site = TestSite { _ in .stub() }
        let problem = try await site.problem("/image?url=https://example.com/a.jpg&target=high")
        #expect(problem.parameter == "target" && problem.detail.contains("requires q=auto"))
    }
}
