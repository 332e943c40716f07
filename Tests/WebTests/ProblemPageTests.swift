import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Testing

@testable import DarkroomWeb

struct ProblemPageTests {
    private let site = TestSite()

    @Test(arguments: ProblemKind.all)
    func `the type of each problem is the address of a page with cause and cure`(kind: ProblemKind) async throws {
        let response = try await site.respond(kind.type)
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        let html = try await response.text()
        for text in [kind.title, kind.cause, kind.cure] {
            #expect(html.contains(Page.escaped(text)))
            #expect(text.last == "." || text == kind.title)
        }
        #expect(html.contains("<b>\(kind.status.code)</b>"))
    }

    @Test func `no two kinds give the same cause`() {
        #expect(Set(ProblemKind.all.map(\.cause)).count == ProblemKind.all.count)
    }

    @Test func `the index leads to every page`() async throws {
        let html = try await site.respond("/problems").text()
        for kind in ProblemKind.all { #expect(html.contains("href=\"\(kind.type)\"")) }
    }

    @Test(arguments: [
        "/problems/none", "/problems/a/b", "/problems/%3Cscript%3E", "/problems/Loop",
        "/problems/loop%20",
    ])
    func `an unknown page is a problem`(path: String) async throws {
        #expect(try await site.problem(path).type == "/problems/no-such-route")
    }

    @Test(arguments: ["/problems", "/problems/loop"])
    func `a browser applies the page's own style and loads nothing`(path: String) async throws {
        let response = try await site.respond(path)
        let html = try await response.text()
        let style = try #require(html.firstMatch(of: /<style>(?<text>[^<]*)<\/style>/)?.output.text)
        let hash = Data(SHA256.hash(data: Data(style.utf8))).base64EncodedString()
        let policy = try #require(response.headers[.contentSecurityPolicy])
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-\(hash)';"))
        #expect(!html.contains("<script") && !html.contains("style=") && !html.contains("http://"))
        #expect(response.headers[.xContentTypeOptions] == "nosniff")
    }

    @Test func `whatever stands in a title is text`() {
        let page = Page(title: #"<script>"&'</script>"#, body: "")
        #expect(!page.html.contains("<script>"))
        #expect(page.html.contains("<h1>&lt;script&gt;&quot;&amp;&#39;&lt;/script&gt;</h1>"))
    }
}
