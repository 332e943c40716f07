import Crypto
import DarkroomDialects
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// The page at `/`: what it may do, and that it knows the service. What it does is tried in a browser, by `make
/// playground`.
struct PlaygroundTests {
    private static let parameters = ImageQueryGrammar().summaries
    private let page = text(hasLocalFiles: false)

    private static func text(hasLocalFiles: Bool) -> String {
        let server = PlaygroundPage.Server(parameters: parameters, hasLocalFiles: hasLocalFiles)
        return String(decoding: PlaygroundPage.document(for: server), as: UTF8.self)
    }

    @Test func `The page is HTML with a short lifetime`() async throws {
        let response = try await TestSite().respond("/")
        #expect(response.status == .ok)
        #expect(response.headers[.contentType] == "text/html; charset=utf-8")
        #expect(response.headers[.cacheControl] == "public, max-age=300")
        #expect(response.headers[.xContentTypeOptions] == "nosniff")
        #expect(try await response.text() == page)
    }

    @Test func `A 304 for the page still has its policy`() async throws {
        let first = try await TestSite().respond("/")
        let tag = try #require(first.headers[.eTag])
        let second = try await TestSite().respond("/", fields: [.ifNoneMatch: tag])
        #expect(second.status == .notModified)
        #expect(second.headers[.contentSecurityPolicy] == first.headers[.contentSecurityPolicy])
        #expect(try await second.text().isEmpty)
        #expect(try await TestSite().respond("/", fields: [.ifNoneMatch: "\"another\""]).status == .ok)
    }

    @Test func `Different pages have different tags`() async throws {
        let tags = [Array("a".utf8), Array("b".utf8)].map { page in
            PlaygroundEndpoint(page: page).respond(to: .get).headers[.eTag]
        }
        #expect(tags[0] != tags[1])
    }

    @Test func `The setting turns the page off`() async throws {
        var configuration = WebConfiguration.test(token: nil)
        configuration.servesPlayground = false
        let site = TestSite(configuration: configuration)
        #expect(try await site.respond("/").status == .notFound)
        #expect(try await site.respond("/reference").status == .ok)
    }

    @Test(arguments: [("script type=\"module\"", "script"), ("style", "style")])
    func `The policy allows only the page's own element`(tag: String, element: String) throws {
        let pieces = page.components(separatedBy: "<\(tag)>")
        #expect(pieces.count == 2, "There is one such element.")
        let content = try #require(pieces.last?.components(separatedBy: "</\(element)>"))
        #expect(content.count == 2, "No text in it ends it early.")
        let hash = Data(SHA256.hash(data: Data(content[0].utf8))).base64EncodedString()
        #expect(try directives()["\(element)-src"] == "'sha256-\(hash)'")
    }

    @Test func `The page contains every file of its folder`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("Sources/Web/Pages/Playground")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension != "html" }
        #expect(files.count > 10)
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(page.contains(text), "\(file.lastPathComponent)")
            #expect(text.split(separator: "\n").count < 300, "\(file.lastPathComponent)")
        }
    }

    @Test func `The policy forbids other scripts and other origins`() throws {
        var directives = try directives()
        directives["script-src"] = nil
        directives["style-src"] = nil
        #expect(
            directives == [
                "default-src": "'none'", "img-src": "'self' data: blob:", "connect-src": "'self'", "base-uri": "'none'",
                "form-action": "'none'", "frame-ancestors": "'none'",
            ])
    }

    @Test func `A page without script or style allows neither`() throws {
        let policy = PlaygroundEndpoint(page: Array("<p>".utf8)).respond(to: .get).headers[.contentSecurityPolicy]
        #expect(policy?.contains("script-src 'none'; style-src 'none';") == true)
    }

    @Test func `The page refers to other sites only in examples, and uses nothing that its policy forbids`() {
        let hosts = page.matches(of: /https?:\/\/([A-Za-z0-9.-]+)/).map { String($0.output.1) }
        #expect(Set(hosts) == ["example.com", "www.w3.org"])
        #expect(!page.contains(/\son[a-z]+="/), "a handler in the markup")
        #expect(!page.contains(/<[a-z][^>]*\sstyle="/), "a style in the markup")
    }

    @Test(arguments: [
        "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function", "import(",
    ])
    func `External text never becomes markup or code`(way: String) {
        #expect(!page.contains(way))
    }

    @Test func `The page knows the parameters of the grammar and their values`() throws {
        let block = try #require(page.firstMatch(of: /id="server">([^<]*)<\/script>/)).output.1
        struct Stated: Decodable {
            var parameters: [[String: String]]
            var hasLocalFiles: Bool
            var needsSignature: Bool
        }
        let stated = try JSONDecoder().decode(Stated.self, from: Data(block.utf8))
        #expect(stated.parameters.compactMap { $0["name"] } == Self.parameters.map(\.name))
        #expect(stated.parameters.first { $0["name"] == "q" }?["values"]?.hasPrefix("an integer from 1 to 100") == true)
        #expect(!stated.hasLocalFiles && !stated.needsSignature)
        #expect(Self.text(hasLocalFiles: true).contains("\"hasLocalFiles\":true"))
    }

    @Test func `The page says that images require a signature`() async throws {
        var configuration = WebConfiguration.test(token: nil)
        let open = try await TestSite(configuration: configuration).respond("/").text()
        #expect(open.contains(#""needsSignature":false"#))
        configuration.access.signingKeys = [try SigningKey(id: "k1", secret: "correct-horse-battery-staple-0123")]
        let closed = try await TestSite(configuration: configuration).respond("/").text()
        #expect(closed.contains(#""needsSignature":true"#))
        configuration.access.signingKeys = []
        configuration.pathDialect = Thumbor(key: ThumborKey("secret"))
        let closedByPaths = try await TestSite(configuration: configuration).respond("/").text()
        #expect(closedByPaths.contains(#""needsSignature":true"#))
    }

    @Test func `The page offers every sample image, and they are small`() {
        for path in SampleImages.files.keys {
            #expect(page.contains("[\"\(path.dropFirst())\", "), "\(path)")
        }
        #expect(SampleImages.files.values.map(\.count).reduce(0, +) < 110_000)
    }

    private func directives() throws -> [String: String] {
        let policy = try #require(
            PlaygroundEndpoint(WebConfiguration()).respond(to: .get).headers[.contentSecurityPolicy])
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
