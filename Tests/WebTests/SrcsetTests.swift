import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomPipeline
import DarkroomRequests
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

    /// - Parameter described: the document of the source, which is 4000 pixels wide by default.
    private func document(
        _ rest: String, _ configuration: WebConfiguration = WebConfiguration(),
        of described: String = #"{"format":"jpeg","width":4000,"height":3000,"orientation":1,"pages":1}"#,
        fields: HTTPFields = [:]
    ) async throws -> SrcsetDocument {
        var endpoints = Endpoints.idle()
        endpoints.srcset = .describing(described, configuration: configuration) { _ in .stub() }
        let response = try await TestSite(endpoints, configuration: configuration).respond(
            source + rest, fields: fields)
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "application/json")
        #expect(response.headers[.cacheControl] == "no-store")
        return try JSONDecoder().decode(SrcsetDocument.self, from: Data(try await response.text().utf8))
    }

    private func problem(_ rest: String) async throws -> Problem.Document {
        try await TestSite().problem(source + rest)
    }

    @Test func `URLs have the host that a trusted proxy states, unless there is a public URL`() async throws {
        var configuration = WebConfiguration()
        configuration.clientLimits.trustedProxies = [try CIDR(parsing: "192.0.2.0/24")]
        let fields: HTTPFields = [
            try #require(.init("X-Forwarded-Proto")): "https", try #require(.init("X-Forwarded-Host")): "b.example",
        ]
        let told = try await document("&widths=320&output=webp", configuration, fields: fields)
        #expect(told.src == "https://b.example\(encoded)&w=320&output=webp")
        configuration.publicURL = "https://img.example.com"
        let named = try await document("&widths=320&output=webp", configuration, fields: fields)
        #expect(named.src.hasPrefix("https://img.example.com/image?"))
    }

    @Test(arguments: [("X-Forwarded-Host", "b.example"), ("X-Forwarded-Proto", "https")])
    func `URLs have no host unless the proxy states scheme and host`(name: String, value: String) async throws {
        var configuration = WebConfiguration()
        configuration.clientLimits.trustedProxies = [try CIDR(parsing: "192.0.2.0/24")]
        let fields: HTTPFields = [try #require(.init(name)): value]
        let told = try await document("&widths=320&output=webp", configuration, fields: fields)
        #expect(told.src == "\(encoded)&w=320&output=webp")
    }

    @Test func `Widths are returned as data, attributes and an element`() async throws {
        let told = try await document("&widths=640,320&sizes=50vw&output=webp")
        let (small, large) = ("\(encoded)&w=320&output=webp", "\(encoded)&w=640&output=webp")
        #expect(told.candidates == [.init(width: 320, url: small), .init(width: 640, url: large)])
        #expect(told.src == large)
        #expect(told.srcset == "\(small) 320w, \(large) 640w")
        #expect(told.sizes == "50vw")
        let amp = { (url: String) in url.split(separator: "&").joined(separator: "&amp;") }
        #expect(
            told.html
                == "<img src=\"\(amp(large))\" srcset=\"\(amp(small)) 320w, \(amp(large)) 640w\" sizes=\"50vw\" "
                + "width=\"640\" height=\"480\" alt=\"\" loading=\"lazy\" decoding=\"async\">")
    }

    @Test func `A list of long URLs that would take megabytes is refused`() async throws {
        let configuration = WebConfiguration()
        var endpoints = Endpoints.idle()
        let described = #"{"format":"jpeg","width":4000,"height":3000,"orientation":1,"pages":1}"#
        endpoints.srcset = .describing(described, configuration: configuration) { _ in .stub() }
        let text = "text:\(String(repeating: "(", count: 200)):l:t:20:000"
        let steps = Array(repeating: text, count: 16).joined(separator: ",")
        let widths = (1...32).map { "\($0 * 10)" }.joined(separator: ",")
        let refused = try await TestSite(endpoints, configuration: configuration)
            .problem("\(source)&widths=\(widths)&steps=\(steps)")
        #expect(refused.status == 400 && refused.detail.contains("widths"))
    }

    @Test func `Without widths, default widths up to the server's limit are used`() async throws {
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

    @Test func `The width of a candidate includes the pixel ratio`() async throws {
        let told = try await document("&widths=100,200&dpr=1.5&h=50&fit=cover")
        #expect(told.candidates.map(\.width) == [150, 300])
        #expect(told.candidates.map(\.url) == [150, 300].map { "\(encoded)&w=\($0)&h=75&fit=cover" })
    }

    @Test func `An aspect ratio gives each candidate its height`() async throws {
        let told = try await document("&widths=160,320&ar=16:9")
        #expect(told.candidates.map(\.url) == [(160, 90), (320, 180)].map { "\(encoded)&w=\($0)&h=\($1)&fit=cover" })
        #expect(try await problem("&widths=160&ar=16:9&h=50").parameter == "ar")
        #expect(try await problem("&widths=160,640&min-w=320").parameter == "min-w")
        // The least width removes default widths.
        #expect(try await document("&min-w=640").candidates.map(\.width) == [640, 960, 1280, 1600, 1920, 2560])
        #expect(try await document("&min-w=3000").candidates.map(\.width) == [3000])
        #expect(try await document("&min-w=1281&dpr=2").candidates.map(\.width) == [3200, 3840, 4000])
        let narrow = WebConfiguration(limits: QueryLimits(maxOutputSide: 1000))
        #expect(try await document("&ar=1:2", narrow).candidates.map(\.width) == [320, 480])
    }

    @Test func `Each URL is valid for that image`() async throws {
        let rest = "&widths=9,99&h=50&fit=contain&a=focal&fpx=0.3&blur&crop=1,2,3,4&bg=red&placeholder=lqip&default=b"
        let grammar = ImageQueryGrammar()
        let rows = try SrcsetGrammar().parse(QueryString(parsing: "url=https://example.com/a.jpg" + rest))
        let urls = ImageURLBuilder(WebConfiguration())
        for image in rows.images {
            let query = urls.url(of: image).split(separator: "?").last.map(String.init) ?? ""
            #expect(try grammar.parse(query) == image)
            #expect(!query.contains(",") && !query.contains(" "))
        }
        #expect(rows.images.map(\.recipe.box.width) == [9, 99])
    }

    private static func described(_ width: Int, _ height: Int, _ more: String = "") -> String {
        #"{"format":"jpeg","width":\#(width),"height":\#(height),"orientation":1,"pages":1\#(more)}"#
    }

    @Test(arguments: [
        ("", [320, 480, 640, 900], ["w=320", "w=480", "w=640", "w=900"]),
        ("&widths=100,900,901,5000", [100, 900], ["w=100", "w=900"]),
        ("&widths=5000", [900], ["w=900"]),
        ("&widths=300,500&dpr=2", [600, 900], ["w=600", "w=900"]),
        ("&widths=300,500,600&dpr=2.5", [750, 900], ["w=750", "w=900"]),
        ("&widths=200,2000&enlarge", [200, 2000], ["w=200&enlarge=true", "w=2000&enlarge=true"]),
        ("&widths=200,2000&crop=0,0,300,300", [200, 300], ["w=200&crop=0,0,300,300", "w=300&crop=0,0,300,300"]),
        ("&widths=200,2000&orient=6", [200, 600], ["w=200&orient=6", "w=600&orient=6"]),
        ("&widths=200,400,2000&h=200", [200, 300], ["w=200&h=200", "w=300&h=200"]),
        ("&widths=200,2000&ar=3:1", [200, 900], ["w=200&h=67&fit=cover", "w=900&h=300&fit=cover"]),
        ("&widths=200,2000&pad=10", [220, 920], ["w=200&pad=10", "w=920&pad=10"]),
    ])
    func `No width is wider than the source makes it`(rest: String, widths: [Int], queries: [String]) async throws {
        let told = try await document(rest, of: Self.described(900, 600))
        #expect(told.candidates.map(\.width) == widths)
        let found = told.candidates.map { $0.url.replacing("%2C", with: ",").replacing(encoded + "&", with: "") }
        #expect(found == queries)
        #expect(told.width == widths.last)
        #expect(told.srcset.hasSuffix(" \(widths.last ?? 0)w"))
    }

    @Test func `A drawing has every width, and a rotated source the one that it shows`() async throws {
        let drawing = Self.described(20, 10).replacing("jpeg", with: "svg")
        #expect(try await document("&widths=20,2000", of: drawing).candidates.map(\.width) == [20, 2000])
        let turned = Self.described(900, 600).replacing(#""orientation":1"#, with: #""orientation":6"#)
        let told = try await document("&widths=2000", of: turned)
        #expect(told.candidates.map(\.width) == [600] && told.height == 900)
    }

    @Test func `A size that only pixels tell is no attribute`() async throws {
        let told = try await document("&widths=100,2000&trim", of: Self.described(900, 600))
        #expect(told.candidates.map(\.width) == [100, 900])
        #expect(told.width == nil && told.height == nil && !told.html.contains("width="))
    }

    @Test func `Widths and formats that would be refused are left out`() async throws {
        let configuration = WebConfiguration()
        let described = Self.described(4000, 3000)
        func respond(_ rest: String, refuses: @escaping @Sendable (ImageRequest) -> Bool) async throws -> Response {
            var endpoints = Endpoints.idle()
            let plan: @Sendable (ImageRequest) throws(PipelineError) -> ImagePlan = { request throws(PipelineError) in
                if refuses(request) { throw .tooLarge("The image would take hours.") }
                return Explanation.plan
            }
            endpoints.srcset = .describing(described, configuration: configuration, plan: plan) { _ in .stub() }
            return try await TestSite(endpoints, configuration: configuration).respond(source + rest)
        }
        let response = try await respond("&widths=400,800,1600,3200") { request in
            let limit = request.output.format == .avif ? 1000 : request.output.format == .webp ? 0 : 2000
            return request.recipe.box.width ?? 0 > limit
        }
        let document = try JSONDecoder().decode(SrcsetDocument.self, from: Data(try await response.text().utf8))
        #expect(document.candidates.map(\.width) == [400, 800, 1600] && document.width == 1600)
        let picture = try #require(document.picture)
        #expect(picture.contains("w=800&amp;output=avif 800w\"") && !picture.contains("w=1600&amp;output=avif"))
        #expect(!picture.contains("webp"))
        let refused = try await respond("&widths=400&output=avif") { _ in true }
        #expect(refused.status == .contentTooLarge)
    }

    @Test func `A picture has a source for each format, unless the query names one`() async throws {
        func types(_ rest: String, _ more: String = "") async throws -> [String] {
            let picture = try await document("&widths=9\(rest)", of: Self.described(90, 60, more)).picture ?? ""
            return picture.matches(of: /<source type="image\/([a-z]+)"/).map { String($0.1) }
        }
        #expect(try await types("") == ["avif", "jxl", "webp"])
        #expect(try await types("&formats=webp") == ["webp"])
        #expect(try await types("&formats=jxl,avif") == ["jxl", "avif"])
        #expect(try await types("&output=webp") == [])
        let picture = try #require(try await document("&widths=9&q=50&formats=webp").picture)
        let url = "\(encoded.replacing("&", with: "&amp;"))&amp;w=9&amp;output=webp&amp;q=50"
        #expect(
            picture.hasPrefix("<picture><source type=\"image/webp\" srcset=\"\(url) 9w\" sizes=\"100vw\"><img src="))
        #expect(picture.hasSuffix("></picture>"))
    }

    @Test func `An animation is offered in formats that move`() async throws {
        let moving = Self.described(90, 60).replacing("jpeg", with: "gif").replacing(#""pages":1"#, with: #""pages":3"#)
        let picture = try #require(try await document("&widths=9", of: moving).picture)
        #expect(picture.contains("image/webp") && !picture.contains("image/avif") && !picture.contains("image/jxl"))
        #expect(try await document("&widths=9&n=1", of: moving).picture?.contains("image/avif") == true)
        #expect(try await document("&widths=9&formats=avif", of: moving).picture == nil)
    }

    @Test func `A source that cannot be described is the problem of the image`() async throws {
        for (error, type) in [
            (PipelineError.notFound(status: 404), "source-not-found"), (.unsupported, "unsupported-image"),
            (.overloaded(retryAfterSeconds: 3), "overloaded"),
        ] {
            let site = TestSite { _ throws(PipelineError) in throw error }
            #expect(try await site.problem(source).type == "/problems/\(type)")
        }
        let crop = try await problem("&crop=5000,0,10,10")
        #expect(crop.type == "/problems/invalid-parameter" && crop.parameter == "crop")
        let site = TestSite(configuration: .test(token: nil))
        #expect(try await site.problem(source, fields: [.via: "1.1 us"]).type == "/problems/loop")
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
    func `Invalid parameters are refused by name`(rest: String, parameter: String) async throws {
        let problem = try await problem(rest)
        #expect(problem.status == 400)
        #expect(problem.parameter == parameter)
    }

    @Test func `The number of widths and the length of sizes are limited`() async throws {
        let list = { (count: Int) in (1...count).map { "\($0)" }.joined(separator: ",") }
        #expect(try await document("&widths=" + list(32)).candidates.count == 32)
        #expect(try await problem("&widths=" + list(33)).parameter == "widths")
        #expect(try await problem("&widths=" + String(repeating: "1,", count: 9_000) + "1").parameter == "widths")
        #expect(try await document("&widths=7,7,3,7").candidates.map(\.width) == [3, 7])
        #expect(try await document("&sizes=" + String(repeating: "a", count: 500)).sizes.utf8.count == 500)
        #expect(try await problem("&sizes=" + String(repeating: "a", count: 501)).parameter == "sizes")
    }

    @Test func `A source that /image refuses has no URLs`() async throws {
        let site = TestSite()
        #expect(try await site.problem("/srcset?url=ftp://a").type == "/problems/invalid-url")
        #expect(try await site.problem("/srcset?widths=5").parameter == "url")
        #expect(try await site.respond(source + String(repeating: "&", count: 33_000)).status == .uriTooLong)
    }

    @Test func `A query cannot end an attribute or an element`() async throws {
        let told = try await document("&widths=5&sizes=%22%3E%3Cscript%3Ealert(1)%26%27")
        #expect(told.sizes == "\"><script>alert(1)&'")
        #expect(told.html.contains("sizes=\"&quot;&gt;&lt;script&gt;alert(1)&amp;&#39;\" width=\"5\""))
        #expect(told.picture?.contains("<script") == false && told.picture?.contains("'") == false)
        let address = try await TestSite().respond("/srcset?url=https://a.org/%22%3E%3Cb&widths=5").text()
        #expect(!address.contains("<b"))
        #expect("\"\u{301}<\u{301}&\u{301}".htmlEscaped == "&quot;\u{301}&lt;\u{301}&amp;\u{301}")
    }
}
