import DarkroomHTTPServer
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Testing
import Yams

@testable import DarkroomWeb

struct ReferencePageTests {
    @Test func `The page has every operation, and every parameter that a link leads to`() async throws {
        let response = try await TestSite().respond("/reference")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        let page = try await response.text()
        let scripts = page.matches(of: /<script>(.*?)<\/script>/.dotMatchesNewlines()).map(\.output.1)
        #expect(scripts.count == 1)
        let source = HTMLPage.policySource(ofInline: scripts.joined())
        #expect(response.headers[.contentSecurityPolicy]?.contains("script-src \(source);") == true)
        let contract = try Contract()
        for (path, item) in try #require(contract["paths"]?.mapping) {
            for method in try #require(item.mapping).keys.compactMap(\.string) where method != "parameters" {
                #expect(page.contains("<code>\(method.uppercased()) \(path.string ?? "")</code>"))
            }
        }
        let links = page.matches(of: /href="#([^"]+)"/).map { String($0.output.1) }
        #expect(links.count > 100)
        for anchor in Set(links) { #expect(page.contains("id=\"\(anchor)\""), "\(anchor)") }
        let sideBar = try #require(page.firstMatch(of: /<nav.*?<\/nav>/.dotMatchesNewlines())).output
        #expect(sideBar.contains("href=\"#parameter-fit\"") && sideBar.contains("GET /srcset"))
    }

    @Test func `Descriptions are text, in which only backticks mean something`() throws {
        let yaml = """
            info: { description: "A `<b>` & more.\\n\\nAn odd ` one." }
            components:
              parameters:
                w: { name: w, description: Width., schema: { type: integer, minimum: 1, maximum: 9, default: 2 } }
                fit: { name: fit, description: Fit., schema: { $ref: "#/components/schemas/Fit" } }
              schemas:
                Fit: { type: string, enum: [inside, cover] }
            """
        let page = try ReferencePage(yaml: yaml.utf8).page.html
        #expect(page.contains("<p>A <code>&lt;b&gt;</code> &amp; more.</p>"))
        #expect(page.contains("<p>An odd ` one.</p>"))
        #expect(page.contains("<code>w</code> integer, from 1 to 9, default 2</dt>"))
        #expect(page.contains("<code>fit</code> inside, cover</dt>"))
    }
}
