import DarkroomDialects
import DarkroomHTTPServer
import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import DarkroomWeb

/// Which scripts may read answers, and what makes answers inert.
struct CORSPolicyTests {
    private static let token = "correct-horse-battery"
    private let site = "https://www.example.com"

    private func site(_ origins: CORSPolicy) -> TestSite {
        var configuration = WebConfiguration.test(token: Self.token)
        configuration.access.origins = origins
        return TestSite(configuration: configuration)
    }

    static let shared = [
        "/image?url=https://example.com/a.jpg", "/image?url=https://example.com/a.jpg&output=webp", "/image", "/info",
        "/image?w=0", "/explain", "/srcset?url=https://example.com/a.jpg", "/signed/k1.A/B",
    ]

    @Test(arguments: shared)
    func `all origins may read all responses, problems included, when all are allowed`(target: String) async throws {
        for method in [HTTPRequest.Method.get, .head] {
            let fields = try await site(.all).respond(target, method: method, fields: [.origin: site]).headers
            #expect(fields[.accessControlAllowOrigin] == "*")
            #expect(fields[.accessControlAllowCredentials] == nil)
            #expect(fields[.accessControlExposeHeaders]?.contains("X-Placeholder-BlurHash") == true)
            #expect(fields[.vary]?.contains("Origin") != true)
        }
    }

    @Test(arguments: shared)
    func `only listed origins may read responses, and caches distinguish them`(target: String) async throws {
        let site = site(.listed([self.site]))
        let allowed = try await site.respond(target, fields: [.origin: self.site]).headers
        #expect(allowed[.accessControlAllowOrigin] == self.site)
        #expect(allowed[.vary]?.hasSuffix("Origin") == true)
        for other in ["https://evil.org", "null", "http://www.example.com", "https://www.example.com.evil.org", nil] {
            var fields = HTTPFields()
            fields[.origin] = other
            let answer = try await site.respond(target, fields: fields).headers
            #expect(answer[.accessControlAllowOrigin] == nil)
            #expect(answer[.vary]?.hasSuffix("Origin") == true)
        }
        let negotiated = try await site.respond("/image?url=https://example.com/a.jpg").headers
        #expect(negotiated[.vary] == "Accept, Origin")
    }

    @Test func `preflight responses allow reading without credentials`() async throws {
        for path in ["/image", "/info", "/explain", "/srcset", "/signed/a/b"] {
            let answer = try await site(.all).respond(path, method: .options, fields: [.origin: site])
            #expect(answer.status == .noContent)
            #expect(answer.headers[.accessControlAllowMethods] == (path == "/image" ? "GET, HEAD, POST" : "GET, HEAD"))
            #expect(answer.headers[.accessControlAllowOrigin] == "*")
            #expect(answer.headers[.accessControlAllowHeaders]?.contains("Authorization") == false)
            #expect(answer.headers[.accessControlAllowHeaders]?.contains("Content-Type") == true)
            #expect(try await site(.none).problem(path, method: .options).type == "/problems/method-not-allowed")
        }
    }

    @Test(arguments: ["/cache", "/cache/entries?url=https://example.com/a.jpg", "/prefetch", "/metrics", "/"])
    func `administrative endpoints are never shared with other origins`(target: String) async throws {
        for origins in [CORSPolicy.all, .listed([site])] {
            let fields: HTTPFields = [.origin: site, .authorization: "Bearer \(Self.token)"]
            for method in [HTTPRequest.Method.get, .options, .delete] {
                let answer = try await site(origins).respond(target, method: method, fields: fields).headers
                #expect(answer[.accessControlAllowOrigin] == nil)
                #expect(answer[.vary]?.contains("Origin") != true)
            }
        }
    }

    @Test(arguments: [
        ("/unsafe/300x200/example.com/a.jpg", true), ("//unsafe/300x200/example.com/a.jpg", true), ("/image", true),
        ("//image", true), ("/cache/entries?url=https://example.com/a.jpg", false), ("//cache/entries", false),
        ("/prefetch/7", false), ("/prefetch/7/events", false), ("/health/ready", false), ("/health/none", false),
    ])
    func `paths of another service are shared, but not the server's own paths that look like them`(
        target: String, isShared: Bool
    ) async throws {
        var configuration = WebConfiguration.test(token: Self.token)
        configuration.pathDialect = Thumbor()
        configuration.access.origins = .all
        let fields: HTTPFields = [.origin: site, .authorization: "Bearer \(Self.token)"]
        let answer = try await TestSite(configuration: configuration).respond(target, fields: fields)
        #expect(answer.headers[.accessControlAllowOrigin] == (isShared ? "*" : nil))
    }

    @Test(arguments: shared)
    func `without a CORS policy no origin may read responses`(target: String) async throws {
        let answer = try await site(.none).respond(target, fields: [.origin: site]).headers
        #expect(answer[.accessControlAllowOrigin] == nil && answer[.accessControlExposeHeaders] == nil)
        #expect(answer[.vary]?.contains("Origin") != true)
    }

    @Test(
        arguments: shared + [
            "/", "/problems", "/problems/loop", "/problems/none", "/openapi.yaml", "/openapi.json", "/reference",
            "/health/live",
            "/health/ready", "/cache", "/metrics", "/nothing",
        ])
    func `every response is inert in a browser`(target: String) async throws {
        for method in [HTTPRequest.Method.get, .head, .delete] {
            let answer = try await site(.none).respond(target, method: method)
            try expectInert(answer.headers, target)
        }
        let tag = try await site(.none).respond(target).headers[.eTag]
        guard let tag else { return }
        let known = try await site(.none).respond(target, fields: [.ifNoneMatch: tag])
        #expect(known.status == .notModified)
        try expectInert(known.headers, target)
    }

    private func expectInert(_ fields: HTTPFields, _ target: String) throws {
        #expect(fields[.xContentTypeOptions] == "nosniff")
        #expect(fields[.referrerPolicy] == "no-referrer")
        let policy = try #require(fields[.contentSecurityPolicy])
        #expect(policy.hasPrefix("default-src 'none'"))
        #expect(policy.contains("sandbox") || policy.contains("frame-ancestors 'none'"), "\(policy)")
        let isPicture = fields[.eTag] != nil && target != "/"
        #expect(fields[.crossOriginResourcePolicy] == (isPicture ? "cross-origin" : "same-origin"))
    }

    @Test(arguments: [
        "a%0D%0ASet-Cookie:b", "a%0Ab", "a%00b", "a%22;b", "a%5C", "%E2%80%AEgpj.exe", "a/b", "a;b", "a%2Fb", "..",
        "a%7F",
    ])
    func `a file name cannot inject header fields`(name: String) async throws {
        let target = "/image?url=https://example.com/a.jpg&filename=\(name)"
        let answer = try await site(.none).respond(target)
        #expect(answer.status == .badRequest)
        #expect(answer.headers[.contentDisposition] == nil && answer.headers[.setCookie] == nil)
    }
}
