import DarkroomDialects
import DarkroomHTTPServer
import DarkroomQuery
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
    func `All origins may read all responses, problems included, when all are allowed`(target: String) async throws {
        for method in [HTTPRequest.Method.get, .head] {
            let fields = try await site(.all).respond(target, method: method, fields: [.origin: site]).headers
            #expect(fields[.accessControlAllowOrigin] == "*")
            #expect(fields[.accessControlAllowCredentials] == nil)
            #expect(fields[.accessControlExposeHeaders]?.contains("X-Placeholder-BlurHash") == true)
            #expect(fields[.vary]?.contains("Origin") != true)
        }
    }

    @Test(arguments: shared)
    func `Only listed origins may read responses, and caches distinguish them`(target: String) async throws {
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

    @Test(arguments: shared)
    func `Pages that may read responses may also read their timing, without an Origin too`(target: String) async throws
    {
        let timing = try #require(HTTPField.Name("Timing-Allow-Origin"))
        for fields in [HTTPFields(), [.origin: site]] as [HTTPFields] {
            #expect(try await site(.all).respond(target, fields: fields).headers[timing] == "*")
            #expect(try await site(.none).respond(target, fields: fields).headers[timing] == nil)
            let listed = try await site(.listed([site, "https://a.example"])).respond(target, fields: fields)
            #expect(listed.headers[timing] == "https://a.example, \(site)")
        }
        let cache = try await site(.all).respond("/cache", fields: [.authorization: "Bearer \(Self.token)"])
        #expect(cache.headers[timing] == nil)
    }

    @Test func `Preflight responses allow reading without credentials`() async throws {
        for path in ["/image", "/info", "/explain", "/srcset", "/signed/a/b"] {
            let answer = try await site(.all).respond(path, method: .options, fields: [.origin: site])
            #expect(answer.status == .noContent)
            #expect(answer.headers[.accessControlAllowMethods] == (path == "/image" ? "GET, HEAD, POST" : "GET, HEAD"))
            #expect(answer.headers[.accessControlAllowOrigin] == "*")
            #expect(answer.headers[.accessControlAllowHeaders]?.contains("Authorization") == false)
            #expect(answer.headers[.accessControlAllowHeaders]?.contains("Content-Type") == true)
            // A viewer's `Accept: application/ld+json;profile="…"` needs it.
            #expect(answer.headers[.accessControlAllowHeaders]?.hasPrefix("Accept, ") == true)
            #expect(try await site(.none).problem(path, method: .options).type == "/problems/method-not-allowed")
        }
    }

    @Test(arguments: ["/cache", "/cache/entries?url=https://example.com/a.jpg", "/prefetch", "/metrics", "/"])
    func `Administrative endpoints are never shared with other origins`(target: String) async throws {
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
    func `Paths of another service are shared, but not the server's own paths that look like them`(
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
    func `Without a CORS policy no origin may read responses`(target: String) async throws {
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
    func `Every response is inert in a browser`(target: String) async throws {
        for method in [HTTPRequest.Method.get, .head, .delete] {
            let answer = try await site(.none).respond(target, method: method)
            try expectInert(answer.headers)
        }
        let tag = try await site(.none).respond(target).headers[.eTag]
        guard let tag else { return }
        let known = try await site(.none).respond(target, fields: [.ifNoneMatch: tag])
        #expect(known.status == .notModified)
        try expectInert(known.headers)
    }

    private func expectInert(_ fields: HTTPFields) throws {
        #expect(fields[.xContentTypeOptions] == "nosniff")
        #expect(fields[.referrerPolicy] == "no-referrer")
        let policy = try #require(fields[.contentSecurityPolicy])
        #expect(policy.hasPrefix("default-src 'none'"))
        #expect(policy.contains("sandbox") || policy.contains("frame-ancestors 'none'"), "\(policy)")
        #expect(fields[.crossOriginResourcePolicy] != nil)
    }

    /// The resource policy of each response, which decides what browsers show to pages of other sites.
    @Test(arguments: [
        ("/image?url=https://example.com/a.jpg", "cross-origin"), ("/image", "cross-origin"),
        ("/image?url=https://example.com/a.jpg&w=0", "cross-origin"), ("/image/a.jpg", "cross-origin"),
        ("/?url=https://example.com/a.jpg", "cross-origin"), ("/?url=ftp://example.com/a.jpg", "cross-origin"),
        ("/info", "cross-origin"), ("/explain", "cross-origin"), ("/srcset", "cross-origin"),
        ("/signed/k1.A/B", "cross-origin"), ("/iiif/a/full/max/0/none.jpg", "cross-origin"),
        ("/iiif/https:%2F%2Fexample.com%2Fa.jpg", "cross-origin"), ("/nothing", "cross-origin"),
        ("/unsafe/0x0/filters:none()/example.com/a.jpg", "cross-origin"),
        ("/", "same-origin"), ("/srcset?url=https://example.com/a.jpg", "same-origin"),
        ("/cache", "same-origin"), ("/cache/entries", "same-origin"), ("/prefetch", "same-origin"),
        ("/prefetch/7", "same-origin"), ("/metrics", "same-origin"), ("/problems/none", "same-origin"),
        ("/problems", "same-origin"), ("/problems/loop", "same-origin"), ("/reference", "same-origin"),
        ("/health/live", "same-origin"), ("/health/ready", "same-origin"), ("/openapi.yaml", "same-origin"),
        ("/openapi.json", "same-origin"),
    ])
    func `Pages of other sites may embed images and their problems, and nothing of the operator's`(
        target: String, policy: String
    ) async throws {
        var configuration = WebConfiguration.test(token: Self.token)
        configuration.servesIIIF = true
        configuration.pathDialect = Thumbor()
        let site = TestSite(configuration: configuration)
        for method in [HTTPRequest.Method.get, .head] {
            let answer = try await site.respond(target, method: method)
            #expect(answer.headers[.crossOriginResourcePolicy] == policy)
            guard let tag = answer.headers[.eTag] else { continue }
            let known = try await site.respond(target, method: method, fields: [.ifNoneMatch: tag])
            #expect(known.status == .notModified && known.headers[.crossOriginResourcePolicy] == policy)
        }
        // Another method, or an upload, gets the problem of the path.
        let page = ["/", "/srcset?url=https://example.com/a.jpg"].contains(target)
        for method in [HTTPRequest.Method.post, .patch] {
            let answer = try await site.respond(target, method: method)
            #expect(answer.headers[.crossOriginResourcePolicy] == (page ? "cross-origin" : policy))
        }
    }

    @Test func `Refusals by rate and by signature may be embedded`() async throws {
        var configuration = WebConfiguration.test(token: Self.token)
        configuration.clientLimits.rateLimit = Rate("1/h")
        let target = "/image?url=https://example.com/a.jpg"
        let limited = TestSite(configuration: configuration)
        _ = try await limited.respond(target)
        let refused = try await limited.respond(target)
        #expect(refused.status == .tooManyRequests)
        #expect(refused.headers[.crossOriginResourcePolicy] == "cross-origin")
        let key = try SigningKey(id: "k1", secret: "correct-horse-battery-staple-0123")
        configuration = .test(token: nil)
        configuration.access.signingKeys = [key]
        let signed = try await TestSite(configuration: configuration).respond(target)
        #expect(signed.status == .forbidden)
        #expect(signed.headers[.crossOriginResourcePolicy] == "cross-origin")
    }

    @Test func `The listener of operators embeds nothing`() async throws {
        var configuration = WebConfiguration.test(token: Self.token)
        configuration.adminAddress = .host("127.0.0.1", port: 0)
        for target in ["/image", "/nothing", "/cache"] {
            let answer = try await TestSite(listener: .admin, configuration: configuration).respond(target)
            #expect(answer.headers[.crossOriginResourcePolicy] == "same-origin")
        }
    }

    @Test(arguments: [
        "a%0D%0ASet-Cookie:b", "a%0Ab", "a%00b", "a%22;b", "a%5C", "%E2%80%AEgpj.exe", "a/b", "a;b", "a%2Fb", "..",
        "a%7F",
    ])
    func `A file name cannot inject header fields`(name: String) async throws {
        let target = "/image?url=https://example.com/a.jpg&filename=\(name)"
        let answer = try await site(.none).respond(target)
        #expect(answer.status == .badRequest)
        #expect(answer.headers[.contentDisposition] == nil && answer.headers[.setCookie] == nil)
    }
}
