import Crypto
import DarkroomHTTPServer
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Testing

@testable import DarkroomWeb

struct ProblemPageTests {
    private let site = TestSite()

    @Test(arguments: ProblemKind.all)
    func `The type of each problem leads to a page with cause and remedy`(kind: ProblemKind) async throws {
        let response = try await site.respond(kind.type)
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        let html = try await response.text()
        for text in [kind.title, kind.cause, kind.remedy] {
            #expect(html.contains(text.htmlEscaped))
            #expect(text.last == "." || text == kind.title)
        }
        #expect(html.contains("<b>\(kind.status.code)</b>"))
    }

    @Test func `No two kinds have the same cause`() {
        #expect(Set(ProblemKind.all.map(\.cause)).count == ProblemKind.all.count)
    }

    @Test func `The index links to every page`() async throws {
        let html = try await site.respond("/problems").text()
        for kind in ProblemKind.all {
            // Relative to the page's own path.
            #expect(html.contains("href=\"problems/\(kind.slug)\""))
            #expect(try await site.respond(kind.type).text().contains("href=\"../problems\""))
        }
    }

    @Test(arguments: [
        "/problems/none", "/problems/a/b", "/problems/%3Cscript%3E", "/problems/Loop",
        "/problems/loop%20",
    ])
    func `An unknown page is a problem`(path: String) async throws {
        #expect(try await site.problem(path).type == "/problems/no-such-route")
    }

    @Test(arguments: ["/problems", "/problems/loop"])
    func `The page's policy allows only its own style`(path: String) async throws {
        let response = try await site.respond(path)
        let html = try await response.text()
        let style = try #require(html.firstMatch(of: /<style>(?<text>[^<]*)<\/style>/)?.output.text)
        let hash = Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString()
        let policy = try #require(response.headers[.contentSecurityPolicy])
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-\(hash)';"))
        #expect(!html.contains("<script") && !html.contains("style=") && !html.contains("http://"))
        #expect(response.headers[.xContentTypeOptions] == "nosniff")
    }

    private static let navigation =
        "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8"

    @Test(
        arguments: [
            (navigation, "document", true), (navigation, nil, true), (navigation, "image", false),
            (navigation, "empty", false), ("image/avif,image/webp,*/*", nil, false), ("*/*", nil, false),
            (nil, nil, false),
        ] as [(String?, String?, Bool)])
    func `A browser that loads a document gets the problem as a page, and any other client as JSON`(
        accept: String?, destination: String?, isPage: Bool
    ) async throws {
        var fields: HTTPFields = [:]
        fields[.accept] = accept
        fields[.secFetchDest] = destination
        let response = try await TestSite().respond("/image?url=https://a.org/b.png&w=<i>", fields: fields)
        #expect(response.status == .badRequest)
        #expect(response.headers[.contentType] == (isPage ? "text/html; charset=utf-8" : "application/problem+json"))
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(response.headers[.vary] == "Accept, Sec-Fetch-Dest")
        let text = try await response.text()
        #expect(!isPage || text.contains("Parameter &#39;w&#39; must be") && text.contains("got &#39;&lt;i&gt;&#39;"))
        #expect(!isPage || response.headers[.contentSecurityPolicy]?.contains("default-src 'none'") == true)
    }

    @Test func `A problem that a person sees leads to parameters, playground and problems`() async throws {
        let fields: HTTPFields = [.accept: "text/html"]
        var configuration = WebConfiguration.test(token: nil)
        configuration.basePath = "/img"
        let page = try await TestSite(configuration: configuration).respond("/image?w=0", fields: fields).text()
        for path in ["/img/reference#parameters", "/img/", "/img/problems"] {
            #expect(page.contains("href=\"\(path)\""), "\(path)")
        }
        configuration.servesPlayground = false
        let closed = try await TestSite(configuration: configuration).respond("/image?w=0", fields: fields).text()
        #expect(closed.contains("/img/reference") && !closed.contains("href=\"/img/\""))
        let admin = try await TestSite(listener: .admin, configuration: configuration).respond("/no", fields: fields)
        #expect(try await !admin.text().contains("/reference"))
    }

    @Test func `With a public URL, types of problems are absolute, and so they are in the contract`() async throws {
        var configuration = WebConfiguration.test(token: nil)
        configuration.publicURL = "https://images.example.com/i"
        let site = TestSite(configuration: configuration)
        let type = "https://images.example.com/i/problems/invalid-parameter"
        #expect(try await site.problem("/image?url=https://a.org/b.png&w=x").type == type)
        var endpoints = Endpoints.idle()
        endpoints.contract = ContractEndpoint(without: [], problemBase: "https://images.example.com/i")
        let contract = try await TestSite(endpoints, configuration: configuration).respond("/openapi.yaml").text()
        #expect(contract.contains("- \(type)\n") && contract.contains("type: \(type)\n"))
        #expect(contract.contains("\n  /problems/{slug}:\n") && !contract.contains(" /problems/invalid"))
    }
}
