import DarkroomHTTPCaching
import DarkroomHTTPServer
import DarkroomNetwork
import DarkroomOrigin
import DarkroomPipeline
import DarkroomRequests
import Foundation
import HTTPTypes
import Hummingbird
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

/// Who may ask for what.
struct AccessTests {
    private static let token = "correct-horse-battery"
    private static let secret = "correct-horse-battery-staple-0123"
    private static let now = Date(timeIntervalSince1970: 1_800_000_000)
    private let source = "https://example.com/photo.jpg"
    private let bearer: HTTPFields = [.authorization: "Bearer \(token)"]

    private func configuration(_ keys: SigningKey...) -> WebConfiguration {
        var configuration = WebConfiguration.test(token: Self.token)
        configuration.access.signingKeys = keys
        configuration.now = { Self.now }
        return configuration
    }

    private func key(
        _ id: String = "k1", hosts: [String] = [], presets: Set<String>? = nil
    ) throws -> SigningKey {
        try SigningKey(id: id, secret: Self.secret + id, hosts: hosts, presets: presets)
    }

    /// The target, signed.
    private func signed(_ path: String, _ query: String, by key: SigningKey) throws -> String {
        let request = SignedRequest(path: path, parameters: try QueryString(parsing: query))
        return "\(path)?\(request.query)&s=\(key.sign(request).text)"
    }

    @Test(arguments: ["/image", "/info", "/explain", "/srcset"])
    func `Where there is a key, images and their descriptions take a signature or the admin token`(
        path: String
    ) async throws {
        let key = try key()
        let site = TestSite(configuration: configuration(key))
        let query = "url=\(source)" + (path == "/srcset" ? "&widths=5" : "")
        for method in [HTTPRequest.Method.get, .head] {
            #expect(try await site.respond("\(path)?\(query)", method: method).status == .forbidden)
        }
        #expect(try await site.problem("\(path)?\(query)").type == "/problems/signature-required")
        // Nothing stands behind this site's explanations.
        let answered = path == "/explain" ? HTTPResponse.Status.internalServerError : .ok
        #expect(try await site.respond("\(path)?\(query)", fields: bearer).status == answered)
        #expect(try await site.respond(try signed(path, query, by: key)).status == answered)
        let wrong: HTTPFields = [.authorization: "Bearer another-token-altogether"]
        #expect(try await site.problem("\(path)?\(query)", fields: wrong).type == "/problems/signature-required")
        let other = try signed(path == "/image" ? "/info" : "/image", query, by: key)
        let moved = other.replacing(/^\/[a-z]+/, with: path)
        #expect(try await site.problem(moved, fields: bearer).type == "/problems/signature-wrong")
    }

    @Test func `A signature opens nothing that takes the token`() async throws {
        let key = try key()
        let site = TestSite(configuration: configuration(key))
        for path in ["/cache", "/metrics", "/prefetch"] {
            #expect(try await site.respond(try signed(path, "", by: key)).status == .unauthorized)
        }
        #expect(try await site.respond("/").status == .ok)
        #expect(try await site.respond("/openapi.yaml").status == .ok)
    }

    @Test func `An answer that only the token opened is kept by its client alone`() async throws {
        let open = try await TestSite(configuration: configuration()).respond("/image?url=\(source)", fields: bearer)
        #expect(open.headers[.cacheControl] == "public, max-age=3600")
        let site = TestSite(configuration: configuration(try key()))
        let closed = try await site.respond("/image?url=\(source)", fields: bearer)
        #expect(closed.headers[.cacheControl] == "private, max-age=3600")
    }

    @Test func `No cache is told to keep an answer longer than its address is good`() async throws {
        let key = try key()
        let origin: HTTPFields = [
            .cacheControl: "max-age=3600, s-maxage=7200, stale-while-revalidate=60, stale-if-error=60, immutable"
        ]
        let site = TestSite(configuration: configuration(key)) { _ in .stub(origin: origin) }
        // The stub is 90 seconds old.
        for (left, lifetimes) in [
            (100, "max-age=190"), (3_500, "max-age=3590"), (5_000, "max-age=3600, s-maxage=5090"),
        ] {
            let query = "url=\(source)&exp=\(1_800_000_000 + left)"
            let response = try await site.respond(try signed("/image", query, by: key))
            #expect(response.headers[.cacheControl] == "public, \(lifetimes), must-revalidate")
        }
        for past in [1_800_000_000, 1_799_999_999] {
            let target = try signed("/image", "url=\(source)&exp=\(past)", by: key)
            #expect(try await site.problem(target).type == "/problems/signature-expired")
        }
    }

    @Test func `A key with hosts asks no others, for the picture or in its place`() async throws {
        let key = try key(hosts: ["*.example.com", "example.com"])
        let site = TestSite(configuration: configuration(key))
        let good = ["url=\(source)", "url=\(source)&default=https://img.example.com/b.png"]
        let bad = [
            "url=https://example.org/a.jpg", "url=\(source)&default=https://example.org/b.png", "url=local:///a.jpg",
            "url=https://example.com.evil.org/a.jpg", "url=https://example.com@evil.org/a.jpg",
        ]
        for query in good { #expect(try await site.respond(try signed("/image", query, by: key)).status == .ok) }
        for query in bad {
            for path in ["/image", "/explain", "/srcset"] {
                let target = try signed(path, query + (path == "/srcset" ? "&widths=5" : ""), by: key)
                #expect(try await site.problem(target).type == "/problems/source-not-allowed", "\(target)")
            }
        }
        #expect(try await site.respond("/image?\(bad[0])", fields: bearer).status == .ok)
    }

    @Test func `A set of widths is signed by the same key until the same time`() async throws {
        let (first, second) = (try key(hosts: ["example.org"]), try key("k2"))
        let site = TestSite(configuration: configuration(first, second))
        let query = "url=\(source)&widths=5,9&exp=1800000060"
        let asked: [(String, HTTPFields)] = [
            (try signed("/srcset", query, by: second), [:]), ("/srcset?\(query)", bearer),
        ]
        for (target, fields) in asked {
            let text = try await site.respond(target, fields: fields).text()
            let told = try JSONDecoder().decode(SrcsetDocument.self, from: Data(text.utf8))
            #expect(told.candidates.count == 2)
            for candidate in told.candidates {
                #expect(candidate.url.contains("&exp=1800000060&s=k2."))
                #expect(try await site.respond(candidate.url).status == .ok)
            }
        }
    }

    @Test func `An explanation gives the signed address, and its canonical query has no signature`() async throws {
        let key = try key()
        let query = "url=\(source)&w=5&exp=1800000060"
        let image = ImageEndpoint(configuration: configuration(key)) { _ in .stub() }
        let endpoints = Endpoints.idle(
            image: image, explain: ExplainEndpoint(image: image) { _, _ in .stub(plan: .missing("Why.")) })
        let site = TestSite(endpoints, configuration: image.configuration)
        let text = try await site.respond(try signed("/explain", query, by: key)).text()
        struct Told: Decodable {
            struct Request: Decodable { var canonical, address: String }
            var request: Request
        }
        let told = try JSONDecoder().decode(Told.self, from: Data(text.utf8)).request
        #expect(!told.canonical.contains("s=") && !told.canonical.contains("exp"))
        #expect(try await site.respond(told.address).status == .ok)
    }

    @Test func `A signature and its end are part of no cache key`() async throws {
        let key = try key()
        let site = TestSite(configuration: configuration(key)) { request throws(PipelineError) in
            #expect(request.source.canonical == source)
            return .stub()
        }
        let tags = try await [
            try signed("/image", "url=\(source)", by: key),
            try signed("/image", "url=\(source)&exp=1800000060", by: key),
        ].asyncMap { try await site.respond($0).headers[.eTag] }
        #expect(tags[0] == tags[1])
    }
}

extension [String] {
    fileprivate func asyncMap<Result>(_ transform: (String) async throws -> Result) async rethrows -> [Result] {
        var results: [Result] = []
        for element in self { results.append(try await transform(element)) }
        return results
    }
}
