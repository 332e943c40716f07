import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomRequests
import DarkroomTransforms
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// Queries of wsrv.nl, at `/` and at `/image`.
struct WsrvEndpointTests {
    private static let secret = String(repeating: "secret-", count: 6)

    /// What was asked of the pipeline.
    private func request(
        _ target: String, _ configuration: WebConfiguration = .test(token: nil)
    ) async throws -> ImageRequest? {
        let asked = Mutex<ImageRequest?>(nil)
        let site = TestSite(configuration: configuration) { request throws(PipelineError) in
            asked.withLock { $0 = request }
            return .stub()
        }
        let response = try await site.respond(target)
        #expect(response.status == .ok, "\(target)")
        return asked.withLock { $0 }
    }

    @Test(arguments: ["/?url=example.com/a.jpg&w=300&h=50%", "/image?compat=wsrv&url=example.com/a.jpg&w=300&h=50%"])
    func `A query is read as wsrv.nl reads it`(target: String) async throws {
        let request = try #require(try await request(target))
        #expect(request.source.canonical == "http://example.com/a.jpg")
        #expect(request.recipe.enlarge && request.recipe.rules == .wsrv)
        #expect(request.recipe.box.width == 300 && "\(request.recipe.box.vertical.map { "\($0)" } ?? "")" == "50p")
        #expect(request.pages == PageSelection(count: 1))
    }

    @Test func `Repeated and unknown parameters are ignored, but not for Darkroom's own`() async throws {
        let request = try await request("/?url=example.com/a.jpg&w=3&w=4&nonsense=1&cachebuster")
        #expect(request?.recipe.box.width == 3)
        for target in [
            "/image?url=http://example.com/a.jpg&w=3&w=4", "/?url=http://example.com/a.jpg&w=3&w=4&compat=darkroom",
        ] {
            #expect(try await TestSite().problem(target).type == "/problems/invalid-parameter")
        }
        #expect(try await TestSite().problem("/?url=example.com/a.jpg&w=9000").parameter == "w")
        #expect(try await TestSite().problem("/?url=").parameter == "url")
    }

    @Test func `Without a source the path is the playground's`() async throws {
        for target in ["/", "/?w=300", "/?curl=a"] {
            #expect(try await TestSite().respond(target).headers[.contentType]?.hasPrefix("text/html") == true)
        }
        var configuration = WebConfiguration.test(token: nil)
        configuration.servesPlayground = false
        #expect(try await TestSite(configuration: configuration).problem("/?w=300").type == "/problems/no-such-route")
        #expect(try await request("/?url=example.com/a.jpg", configuration) != nil)
    }

    @Test func `The setting makes it the language of images, and URLs that are handed out say theirs`() async throws {
        var configuration = WebConfiguration.test(token: nil)
        configuration.dialect = .wsrv
        #expect(try await request("/image?url=example.com/a.jpg&w=3", configuration)?.recipe.enlarge == true)
        let own = try await request("/image?url=http://example.com/a.jpg&w=3&compat=darkroom", configuration)
        #expect(own?.recipe.enlarge == false)
        let srcset = try await TestSite(configuration: configuration)
            .respond("/srcset?url=http://example.com/a.jpg&widths=9").text()
        #expect(srcset.contains("w=9&compat=darkroom"))
        #expect(
            PlaygroundPage.document(for: .init(parameters: [], hasOtherDialect: true)).count > 0
        )
    }

    // MARK: Access

    @Test func `A server with keys takes no query without a signature, in any language`() async throws {
        var configuration = WebConfiguration.test(token: nil)
        let key = try SigningKey(id: "k1", secret: Self.secret, hosts: ["example.com"])
        configuration.access.signingKeys = [key]
        let site = TestSite(configuration: configuration)
        for target in ["/?url=example.com/a.jpg", "/image?url=example.com/a.jpg&compat=wsrv"] {
            #expect(try await site.problem(target).type == "/problems/signature-required")
        }
        let sign = { (target: String) in try URLSigner(configuration).sign(target) }
        let signed = try sign("/?url=example.com/a.jpg&w=50%")
        #expect(signed.hasPrefix("/?"))
        #expect(try await site.respond(signed).status == .ok)
        // Or one signed URL would have any number of spellings, each of which caches keep apart.
        for more in ["url=example.com/b.jpg", "w=50%25"] {
            #expect(try await site.problem("\(signed)&\(more)").type == "/problems/invalid-parameter")
        }
        #expect(try await site.problem(signed + "&h=7").type == "/problems/signature-wrong")
        #expect(
            try await site.problem("/?url=example.com/b.jpg&" + signed.dropFirst(2)).type
                == "/problems/invalid-parameter"
        )
        #expect(try await site.problem(signed + "&blur=9").type == "/problems/signature-wrong")
        #expect(
            try await site.problem(signed.replacing("/?", with: "/image?compat=wsrv&")).type
                == "/problems/signature-wrong")
        #expect(throws: URLSigner.Refusal.self) { try sign("/?url=evil.example/a.jpg") }
    }

    @Test func `Where images are made with presets only, other languages are closed`() async throws {
        var configuration = WebConfiguration.test(token: nil)
        try configuration.access.presets.add("avatar", "w=96", limits: QueryLimits())
        configuration.access.presetsOnly = true
        let site = TestSite(configuration: configuration)
        for target in ["/?url=example.com/a.jpg", "/?url=example.com/a.jpg&compat=wsrv&preset=avatar"] {
            #expect(try await site.problem(target).type == "/problems/presets-only")
        }
        #expect(try await site.respond("/image?url=http://example.com/a.jpg&preset=avatar").status == .ok)
        configuration.dialect = .wsrv
        let other = TestSite(configuration: configuration)
        #expect(try await other.respond("/image?url=http://example.com/a.jpg&preset=avatar").status == .ok)
        #expect(try await other.problem("/image?url=example.com/a.jpg").type == "/problems/presets-only")
    }

    @Test(arguments: [Dialect.darkroom, .wsrv])
    func `A preset has all of its parameters wherever it is used`(dialect: Dialect) async throws {
        var configuration = WebConfiguration.test(token: nil)
        try configuration.access.presets.add("avatar", "w=96&radius=20&steps=flip", limits: QueryLimits())
        configuration.dialect = dialect
        for endpoint in ["/", "/image"] {
            let asked = try await request("\(endpoint)?url=http://example.com/a.jpg&preset=avatar", configuration)
            let recipe = try #require(asked?.recipe)
            #expect(recipe.steps == [.flip] && recipe.radius != nil && recipe.rules == .darkroom)
        }
    }

    @Test func `Scripts of other sites may read an image, but not the page`() async throws {
        var configuration = WebConfiguration.test(token: nil)
        configuration.access.origins = .all
        let site = TestSite(configuration: configuration)
        let fields: HTTPFields = [.origin: "https://www.example.com"]
        #expect(
            try await site.respond("/?url=example.com/a.jpg", fields: fields).headers[.accessControlAllowOrigin] == "*")
        #expect(try await site.respond("/", fields: fields).headers[.accessControlAllowOrigin] == nil)
    }

    // MARK: Responses

    @Test func `Base64 is text with a tag of its own`() async throws {
        let site = TestSite()
        let response = try await site.respond("/?url=example.com/a.jpg&encoding=base64&filename=photo")
        #expect(response.headers[.contentType] == "text/plain")
        #expect(response.headers[.contentDisposition] == "inline; filename=\"photo.webp\"")
        #expect(try await response.text() == "data:image/webp;base64,\(Data("bytes".utf8).base64EncodedString())")
        let plain = try await site.respond("/?url=example.com/a.jpg").headers[.eTag]
        let tag = try #require(response.headers[.eTag])
        #expect(tag != plain)
        let again = try await site.respond("/?url=example.com/a.jpg&encoding=base64", fields: [.ifNoneMatch: tag])
        #expect(again.status == .notModified)
    }

    @Test func `A client whose image fails is redirected to the source, and nobody else is`() async throws {
        func site(_ error: PipelineError) -> TestSite { TestSite { _ throws(PipelineError) in throw error } }
        let target = "/?url=ssl:example.com/a.jpg&default=1"
        for error in [PipelineError.notFound(status: 404), .corrupt, .unsupported] {
            let response = try await site(error).respond(target, fields: [.accept: "image/*"])
            #expect(response.status == .found)
            #expect(response.headers[.location] == "https://example.com/a.jpg")
            #expect(response.headers[.cacheControl] == "no-store")
            // Browsers follow it for pages of other sites.
            #expect(response.headers[.crossOriginResourcePolicy] == "cross-origin")
        }
        let destination = try #require(HTTPField.Name("Sec-Fetch-Dest"))
        for (kind, status) in [("image", 302), ("document", 404), ("iframe", 404)] {
            let response = try await site(.notFound(status: 404)).respond(target, fields: [destination: kind])
            #expect(response.status.code == status)
        }
        #expect(try await site(.notFound(status: 404)).respond(target).status == .notFound)
        for (types, status) in [
            ("*/*", 404), ("image/avif,image/*,*/*;q=0.8", 302), ("text/html,image/webp,*/*;q=0.8", 404),
        ] {
            let response = try await site(.notFound(status: 404)).respond(target, fields: [.accept: types])
            #expect(response.status.code == status)
        }
        #expect(try await site(.notAllowed("x")).respond(target).status == .forbidden)
        #expect(try await site(.notFound(status: 404)).respond("/?url=example.com/a.jpg").status == .notFound)
        #expect(try await site(.notFound(status: 404)).respond("/?url=local:///a.jpg&default=1").status == .notFound)
    }

    @Test func `An explanation has the translation, and what was ignored`() async throws {
        let site = TestSite.explaining()
        let told = try await site.explanation("/explain?compat=wsrv&url=example.com/a.jpg&w=3&bg=8f00&loop=9")
        #expect(told.request.canonical.contains("w=3&enlarge=true"))
        #expect(told.request.canonical.contains("bg=ff000088"))
        #expect(told.dialect?.name == "wsrv" && told.dialect?.ignored.map(\.name) == ["loop"])
        #expect(try await site.explanation("/explain?url=http://example.com/a.jpg").dialect == nil)
    }

    @Test func `Versions make entries of their own, and nothing else`() throws {
        let base = try ImageRequest(url: "https://example.com/a.jpg")
        var keys: Set<RequestKeys> = []
        for versions in [[], ["1", nil], [nil, "1"], ["2", nil], ["1", "1"]] as [[String?]] {
            var request = base
            request.versions = versions
            keys.insert(RequestKeys(request, chain: TransformChain(), identity: "i", epoch: "e"))
        }
        #expect(keys.count == 5)
        #expect(Set(keys.map(\.source)).count == 1)
    }
}
