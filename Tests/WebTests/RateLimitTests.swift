import DarkroomHTTPServer
import DarkroomPipeline
import DarkroomRequests
import HTTPTypes
import HummingbirdCore
import Synchronization
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

struct RateLimitTests {
    private func site() -> TestSite {
        var configuration = WebConfiguration.test(token: "t")
        configuration.clientLimits.rateLimit = Rate("2/h")
        return TestSite(configuration: configuration)
    }

    @Test(arguments: [
        "/image?url=https://a.org/", "/info?url=https://a.org/", "/explain?url=https://a.org/", "/image?nonsense",
    ])
    func `A client over its rate is told when to retry, before its query is parsed`(target: String) async throws {
        let site = site()
        for _ in 0..<2 { #expect(try await site.respond(target).status != .tooManyRequests) }
        let refused = try await site.respond(target)
        #expect(refused.status == .tooManyRequests)
        #expect(refused.headers[.retryAfter] == "1800")
        #expect(try await site.problem(target).type == "/problems/rate-limited")
        #expect(try await site.respond("/srcset?url=https://a.org/&widths=100").status == .tooManyRequests)
        #expect(try await site.respond(target, method: .head).status == .tooManyRequests)
        #expect(try await site.respond(target, fields: [.authorization: "Bearer t"]).status != .tooManyRequests)
        #expect(try await site.respond(target, fields: [.authorization: "Bearer x"]).status == .tooManyRequests)
    }

    @Test
    func `A key's own rate applies whatever the address; other keys' requests count for the address`()
        async throws
    {
        let secret = "correct-horse-battery-staple-0123"
        let slow = try SigningKey(id: "slow", secret: secret)
        let plain = try SigningKey(id: "plain", secret: secret)
        var configuration = WebConfiguration.test(token: "t")
        configuration.clientLimits.rateLimit = Rate("2/h")
        configuration.access.signingKeys = [slow, plain]
        configuration.access.keyRates = ["slow": try #require(Rate("1/h"))]
        let clients = Mutex<[String]>([])
        let site = TestSite(configuration: configuration) { request in
            clients.withLock { $0.append(request.client) }
            return .stub()
        }
        let query = try QueryString(parsing: "url=https://a.org/")
        let request = SignedRequest(path: "/image", parameters: query)
        func ask(_ key: SigningKey) async throws -> HTTPResponse.Status {
            try await site.respond("/image?\(request.query)&s=\(key.sign(request).text)").status
        }
        #expect(try await ask(slow) == .ok)
        #expect(try await ask(slow) == .tooManyRequests)
        for _ in 0..<2 { #expect(try await ask(plain) == .ok) }
        #expect(try await ask(plain) == .tooManyRequests)
        // The same is whose share of the work it is.
        #expect(clients.withLock(\.self) == ["key slow", "192.0.2.7", "192.0.2.7"])
    }

    @Test func `A request counts for each image that the client has it draw`() async throws {
        var configuration = WebConfiguration.test(token: "t")
        configuration.clientLimits.rateLimit = Rate("5/h")
        let layers =
            "layers=a,b,c,d&mark.a=https://a.org/1&mark.b=https://a.org/2&mark.c=https://a.org/1&mark.d=color:///ff0000"
        for target in ["/image?url=https://a.org/&\(layers)", "/explain?url=https://a.org/&fetch&\(layers)"] {
            let image = ImageEndpoint(configuration: configuration) { _ in .stub() }
            let explain = ExplainEndpoint(image: image) { _, _ throws(PipelineError) in throw .failed }
            let site = TestSite(.idle(image: image, explain: explain), configuration: configuration)
            // Three sources, and two tokens are left.
            #expect(try await site.respond(target).status != .tooManyRequests, "\(target)")
            let refused = try await site.respond(target)
            #expect(refused.status == .tooManyRequests && refused.headers[.retryAfter] == "720")
            for _ in 0..<2 { #expect(try await site.respond("/image?url=https://a.org/").status != .tooManyRequests) }
            #expect(try await site.respond("/image?url=https://a.org/").status == .tooManyRequests)
            #expect(try await site.respond(target, fields: [.authorization: "Bearer t"]).status != .tooManyRequests)
        }
    }

    @Test func `Cheap endpoints have no rate limit`() async throws {
        let site = site()
        for path in ["/health/live", "/health/ready", "/", "/problems", "/openapi.yaml"] {
            for _ in 0..<5 { #expect(try await site.respond(path).status == .ok) }
        }
    }
}
