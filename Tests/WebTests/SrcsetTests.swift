import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// `GET /srcset`.
struct SrcsetTests {
    private let source = "/srcset?url=https://example.com/a.jpg"
    private let encoded = "/image?url=https%3A%2F%2Fexample.com%2Fa.jpg"

    private func document(
        _ rest: String, _ configuration: WebConfiguration = WebConfiguration()
    ) async throws -> SrcsetDocument {
        let site = TestSite(configuration: configuration) { _ throws(PipelineError) in throw .failed }
        let response = try await site.respond(source + rest)
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.cacheControl] == "no-store")
        return try JSONDecoder().decode(SrcsetDocument.self, from: Data(try await response.text().utf8))
    }

    private func problem(_ rest: String) async throws -> Problem.Document {
        try await TestSite().problem(source + rest)
    }

    @Test func `widths are returned as data, attributes and an element`() async throws {
        let told = try await document("&widths=640,320&sizes=50vw&output=webp")
        let (small, large) = ("\(encoded)&w=320&output=webp", "\(encoded)&w=640&output=webp")
        #expect(told.candidates == [.init(width: 320, url: small), .init(width: 640, url: large)])
        #expect(told.src == large)
        #expect(told.srcset == "\(small) 320w, \(large) 640w")
        #expect(told.sizes == "50vw")
        let amp = { (url: String) in url.split(separator: "&").joined(separator: "&amp;") }
        #expect(
            told.html
                == "<img src=\"\(amp(large))\" srcset=\"\(amp(small)) 320w, \(amp(large)) 640w\" sizes=\"50vw\" alt=\"\">"
        )
    }

    @Test func `without widths, default widths up to the server's limit are used`() async throws {
        let all = [320, 480, 640, 960, 1280, 1600, 1920, 2560]
        #expect(try await document("").candidates.map(\.width) == all)
        #expect(try await document("").sizes == "100vw")
        for (side, widths) in [(1000, [320, 480, 640, 960]), (100, [100])] {
            let narrow = WebConfiguration(limits: QueryLimits(maxOutputSide: side))
            #expect(try await document("", narrow).candidates.map(\.width) == widths)
        }
        let dense = WebConfiguration(limits: QueryLimits(maxOutputSide: 1000))
        #expect(try await document("&dpr=2", dense).candidates.map(\.width) == [640, 960])
        #expect(try await document("&dpr=8", dense).candidates.map(\.width) == [1000])
    }

    @Test func `the width of a candidate includes the pixel ratio`() async throws {
        let told = try await document("&widths=100,200&dpr=1.5&h=50&fit=cover")
        #expect(told.candidates.map(\.width) == [150, 300])
        #expect(told.candidates.map(\.url) == [150, 300].map { "\(encoded)&w=\($0)&h=75&fit=cover" })
    }

    @Test func `an aspect ratio gives each candidate its height`() async throws {
        let told = try await document("&widths=160,320&ar=16:9")
        #expect(told.candidates.map(\.url) == [(160, 90), (320, 180)].map { "\(encoded)&w=\($0)&h=\($1)&fit=cover" })
        #expect(try await problem("&widths=160&ar=16:9&h=50").parameter == "ar")
        #expect(try await problem("&widths=160,640&min-w=320").parameter == "min-w")
        let narrow = WebConfiguration(limits: QueryLimits(maxOutputSide: 1000))
        #expect(try await document("&ar=1:2", narrow).candidates.map(\.width) == [320, 480])
    }

    @Test func `each URL is valid for that image`() async throws {
        let rest = "&widths=9,99&h=50&fit=contain&a=focal&fpx=0.3&blur&crop=1,2,3,4&bg=red&placeholder=lqip&default=b"
        let grammar = ImageQueryGrammar()
        let rows = try SrcsetGrammar().parse("url=https://example.com/a.jpg" + rest)
        let urls = ImageURLBuilder(WebConfiguration())
        for image in rows.images {
            let query = urls.url(of: image).split(separator: "?").last.map(String.init) ?? ""
            #expect(try grammar.parse(query) == image)
            #expect(!query.contains(",") && !query.contains(" "))
        }
        #expect(rows.images.map(\.recipe.box.width) == [9, 99])
    }

    @Test func `URLs are absolute if the server knows its public URL`() async throws {
        let known = WebConfiguration(publicURL: "https://img.example.com/pictures")
        let told = try await document("&widths=5", known)
        #expect(told.src == "https://img.example.com/pictures\(encoded)&w=5")
        #expect(told.srcset == told.src + " 5w")
    }

    @Test(arguments: [
        ("&widths=", "widths"), ("&widths", "widths"), ("&widths=0", "widths"), ("&widths=8193", "widths"),
        ("&widths=1,", "widths"), ("&widths=,1", "widths"), ("&widths=1,,2", "widths"), ("&widths=1%202", "widths"),
        ("&widths=-1", "widths"), ("&widths=1.5", "widths"), ("&widths=%2B1", "widths"), ("&widths=000001", "widths"),
        ("&widths=1&widths=2", "widths"), ("&sizes=", "sizes"), ("&sizes=%C3%A9", "sizes"), ("&sizes=a%0Ab", "sizes"),
        ("&w=100", "w"), ("&output=json&fields=color", "fields"), ("&output=json", "output"),
        ("&output=lqip", "output"), ("&widths=8192&dpr=2", "dpr"), ("&h=0", "h"), ("&url=b", "url"),
        ("&default=ftp://a", "default"),
    ])
    func `invalid parameters are refused by name`(rest: String, parameter: String) async throws {
        let problem = try await problem(rest)
        #expect(problem.status == 400)
        #expect(problem.parameter == parameter)
    }

    @Test func `the number of widths and the length of sizes are limited`() async throws {
        let list = { (count: Int) in (1...count).map { "\($0)" }.joined(separator: ",") }
        #expect(try await document("&widths=" + list(32)).candidates.count == 32)
        #expect(try await problem("&widths=" + list(33)).parameter == "widths")
        #expect(try await problem("&widths=" + String(repeating: "1,", count: 9_000) + "1").parameter == "widths")
        #expect(try await document("&widths=7,7,3,7").candidates.map(\.width) == [3, 7])
        #expect(try await document("&sizes=" + String(repeating: "a", count: 500)).sizes.utf8.count == 500)
        #expect(try await problem("&sizes=" + String(repeating: "a", count: 501)).parameter == "sizes")
    }

    @Test func `a source that /image refuses has no URLs`() async throws {
        let site = TestSite()
        #expect(try await site.problem("/srcset?url=ftp://a").type == "/problems/invalid-url")
        #expect(try await site.problem("/srcset?widths=5").parameter == "url")
        #expect(try await site.respond(source + String(repeating: "&", count: 33_000)).status == .uriTooLong)
    }

    @Test func `a query cannot end an attribute or an element`() async throws {
        let told = try await document("&widths=5&sizes=%22%3E%3Cscript%3Ealert(1)%26%27")
        #expect(told.sizes == "\"><script>alert(1)&'")
        #expect(told.html.hasSuffix("sizes=\"&quot;&gt;&lt;script&gt;alert(1)&amp;&#39;\" alt=\"\">"))
        let address = try await TestSite().respond("/srcset?url=https://a.org/%22%3E%3Cb&widths=5").text()
        #expect(!address.contains("<b"))
        #expect("\"\u{301}<\u{301}&\u{301}".htmlEscaped == "&quot;\u{301}&lt;\u{301}&amp;\u{301}")
    }
}
