import Crypto
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// The page at `/`: what it may do, and that it knows the service. What it does is tried in a browser, by `make playground`.
struct PlaygroundTests {
    private let page = String(decoding: PackageResources.playground_html, as: UTF8.self)

    @Test func `the page is HTML that is asked for again soon`() async throws {
        let response = try await TestSite().respond("/")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        #expect(response.headers[.cacheControl] == "public, max-age=300")
        #expect(response.headers[.xContentTypeOptions] == "nosniff")
        #expect(try await response.text() == page)
    }

    @Test func `a browser that has the page is told so, and still what the page may do`() async throws {
        let first = try await TestSite().respond("/")
        let tag = try #require(first.headers[.eTag])
        let second = try await TestSite().respond("/", fields: [.ifNoneMatch: tag])
        #expect(second.status == .notModified)
        #expect(second.headers[.contentSecurityPolicy] == first.headers[.contentSecurityPolicy])
        #expect(try await second.text().isEmpty)
        #expect(try await TestSite().respond("/", fields: [.ifNoneMatch: "\"another\""]).status == .ok)
    }

    @Test func `another page has another tag`() async throws {
        let tags = [Array("a".utf8), Array("b".utf8)].map { page in
            PlaygroundEndpoint(page: page).respond(to: .get).headers[.eTag]
        }
        #expect(tags[0] != tags[1])
    }

    @Test(arguments: ["script", "style"])
    func `the policy lets the page's own element pass, and no other`(element: String) throws {
        let pieces = page.components(separatedBy: "</\(element)>")
        #expect(pieces.count == 2, "There is one such element, which no text in it ends early.")
        let start = try #require(pieces[0].range(of: element == "script" ? "<script type=\"module\">" : "<style>"))
        let hash = Data(SHA256.hash(data: Data(pieces[0][start.upperBound...].utf8))).base64EncodedString()
        #expect(try directives()["\(element)-src"] == "'sha256-\(hash)'")
    }

    @Test func `nothing else may run, and nothing is loaded from elsewhere`() throws {
        var directives = try directives()
        directives["script-src"] = nil
        directives["style-src"] = nil
        #expect(
            directives == [
                "default-src": "'none'", "img-src": "'self' data: blob:", "connect-src": "'self'", "base-uri": "'none'",
                "form-action": "'none'", "frame-ancestors": "'none'",
            ])
    }

    @Test func `a page without script or style may have neither`() throws {
        let policy = PlaygroundEndpoint(page: Array("<p>".utf8)).respond(to: .get).headers[.contentSecurityPolicy]
        #expect(policy?.contains("script-src 'none'; style-src 'none';") == true)
    }

    @Test func `the page names no other site but in examples, and has nothing that the policy forbids`() {
        let hosts = page.matches(of: /https?:\/\/([A-Za-z0-9.-]+)/).map { String($0.output.1) }
        #expect(Set(hosts) == ["example.com", "www.w3.org"])
        #expect(!page.contains(/\son[a-z]+="/), "a handler in the markup")
        #expect(!page.contains(/<[a-z][^>]*\sstyle="/), "a style in the markup")
    }

    @Test(arguments: [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "import(",
    ])
    func `texts from outside never become markup or code`(way: String) {
        #expect(!page.contains(way))
    }

    @Test func `the parameters that the page knows are the grammar's`() throws {
        let list = try #require(page.firstMatch(of: /const PARAMETERS = \[([^\]]+)\]/)).output.1
        let names = list.matches(of: /"([a-z]+)"/).map { String($0.output.1) }
        #expect(names.contains("url"))
        #expect(Set(names).isSubset(of: ImageQueryGrammar().table.parameters.map(\.name)))
    }

    private func directives() throws -> [String: String] {
        let policy = try #require(PlaygroundEndpoint().respond(to: .get).headers[.contentSecurityPolicy])
        let pairs = policy.components(separatedBy: "; ").map { $0.split(separator: " ", maxSplits: 1) }
        return Dictionary(uniqueKeysWithValues: pairs.map { (String($0[0]), String($0[1])) })
    }
}

extension Request {
    /// A request for the page.
    fileprivate static var get: Request {
        Request(
            head: HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/"),
            body: RequestBody(buffer: .init()))
    }
}
