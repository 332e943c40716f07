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

    @Test func `the page is HTML with a short lifetime`() async throws {
        let response = try await TestSite().respond("/")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        #expect(response.headers[.cacheControl] == "public, max-age=300")
        #expect(response.headers[.xContentTypeOptions] == "nosniff")
        #expect(try await response.text() == page)
    }

    @Test func `a 304 for the page still has its policy`() async throws {
        let first = try await TestSite().respond("/")
        let tag = try #require(first.headers[.eTag])
        let second = try await TestSite().respond("/", fields: [.ifNoneMatch: tag])
        #expect(second.status == .notModified)
        #expect(second.headers[.contentSecurityPolicy] == first.headers[.contentSecurityPolicy])
        #expect(try await second.text().isEmpty)
        #expect(try await TestSite().respond("/", fields: [.ifNoneMatch: "\"another\""]).status == .ok)
    }

    @Test func `different pages have different tags`() async throws {
        let tags = [Array("a".utf8), Array("b".utf8)].map { page in
            PlaygroundEndpoint(page: page).respond(to: .get).headers[.eTag]
        }
        #expect(tags[0] != tags[1])
    }

    @Test(arguments: ["script", "style"])
    func `the policy allows only the page's own element`(element: String) throws {
        let pieces = page.components(separatedBy: "</\(element)>")
        #expect(pieces.count == 2, "There is one such element, which no text in it ends early.")
        let start = try #require(pieces[0].range(of: element == "script" ? "<script type=\"module\">" : "<style>"))
        let hash = Data(SHA256.hash(data: Data(pieces[0][start.upperBound...].utf8))).base64EncodedString()
        #expect(try directives()["\(element)-src"] == "'sha256-\(hash)'")
    }

    @Test func `the policy forbids other scripts and other origins`() throws {
        var directives = try directives()
        directives["script-src"] = nil
        directives["style-src"] = nil
        #expect(
            directives == [
                "default-src": "'none'", "img-src": "'self' data: blob:", "connect-src": "'self'", "base-uri": "'none'",
                "form-action": "'none'", "frame-ancestors": "'none'",
            ])
    }

    @Test func `a page without script or style allows neither`() throws {
        let policy = PlaygroundEndpoint(page: Array("<p>".utf8)).respond(to: .get).headers[.contentSecurityPolicy]
        #expect(policy?.contains("script-src 'none'; style-src 'none';") == true)
    }

    @Test func `the page refers to other sites only in examples, and uses nothing that its policy forbids`() {
        let hosts = page.matches(of: /https?:\/\/([A-Za-z0-9.-]+)/).map { String($0.output.1) }
        #expect(Set(hosts) == ["example.com", "www.w3.org"])
        #expect(!page.contains(/\son[a-z]+="/), "a handler in the markup")
        #expect(!page.contains(/<[a-z][^>]*\sstyle="/), "a style in the markup")
    }

    @Test(arguments: [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "import(",
    ])
    func `external text never becomes markup or code`(way: String) {
        #expect(!page.contains(way))
    }

    @Test func `the page's parameters are those of the grammar`() throws {
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
