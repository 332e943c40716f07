import DarkroomHTTPServer
import DarkroomRequests
import DarkroomTestClock
import Foundation
import HTTPTypes
import HummingbirdCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline
@testable import DarkroomQuery
@testable import DarkroomWeb

/// Quotas of signing keys: refusals, charges and shares of the caches.
@Suite(.timeLimit(.minutes(5)))
struct KeyQuotaTests {
    private static let secret = "correct-horse-battery-staple-0123"

    private let clock = TestClock()

    /// Keys `greedy`, with these quotas, and `polite`, without any.
    private func configuration(_ quotas: KeyQuotas) throws -> WebConfiguration {
        var configuration = WebConfiguration.test(token: "t")
        configuration.access.signingKeys = try ["greedy", "polite"].map { try SigningKey(id: $0, secret: Self.secret) }
        configuration.access.keyQuotas = ["greedy": quotas]
        let clock = clock
        configuration.accounts = KeyAccounts { clock.now.offset }
        configuration.now = { clock.date }
        return configuration
    }

    private func target(_ query: String, by key: String = "greedy") throws -> String {
        let request = SignedRequest(path: "/image", parameters: try QueryString(parsing: query))
        return "/image?\(request.query)&s=\(try SigningKey(id: key, secret: Self.secret).sign(request).text)"
    }

    private static func usage(_ configuration: WebConfiguration, of key: String = "greedy") throws -> KeyUsage {
        try #require(configuration.accounts.usage.first { $0.id == key })
    }

    @Test func `A key that sent too much gets 429 until its quota has refilled, and others do not`() async throws {
        // The body of an image is five bytes.
        let configuration = try configuration(KeyQuotas(egress: Allowance(amount: 9, period: .seconds(3600))))
        let site = TestSite(configuration: configuration)
        let image = try target("url=https://a.org/")
        for _ in 0..<2 { #expect(try await site.respond(image).status == .ok) }
        let refused = try await site.respond(image)
        #expect(refused.status == .tooManyRequests)
        // One byte of nine too many.
        #expect(refused.headers[.retryAfter] == "400")
        let problem = try await site.problem(image)
        #expect(problem.type == "/problems/quota-exceeded")
        #expect(problem.detail.contains("'greedy'") && problem.detail.contains("9 bytes of responses in an hour"))
        #expect(try await site.respond(image, method: .head).status == .tooManyRequests)
        #expect(try await site.respond(image, fields: [.authorization: "Bearer t"]).status == .ok)
        #expect(try await site.respond(target("url=https://a.org/", by: "polite")).status == .ok)
        clock.advance(by: .seconds(3600))
        #expect(try await site.respond(image).status == .ok)
        let usage = try Self.usage(configuration)
        #expect(usage.egressBytes == 20)
        #expect(usage.quotas.map(\.refusals) == [3])
        #expect(try Self.usage(configuration, of: "polite").egressBytes == 5)
    }

    @Test func `Responses without a body cost nothing`() async throws {
        let configuration = try configuration(KeyQuotas(egress: Allowance(amount: 1, period: .seconds(60))))
        let site = TestSite(configuration: configuration)
        let image = try target("url=https://a.org/")
        for _ in 0..<3 { #expect(try await site.respond(image, method: .head).status == .ok) }
        let tag = "\"0123456789abcdef0123456789abcdef\""
        for _ in 0..<3 { #expect(try await site.respond(image, fields: [.ifNoneMatch: tag]).status == .notModified) }
        #expect(try Self.usage(configuration).egressBytes == 0)
    }

    @Test func `Time on pixel workers is charged to the key, also for failures, and bounds it`() async throws {
        let configuration = try configuration(KeyQuotas(processor: Allowance(amount: 10, period: .seconds(60))))
        let site = TestSite(configuration: configuration) { request throws(PipelineError) in
            request.account?.charge(processing: .seconds(11))
            throw .corrupt
        }
        let image = try target("url=https://a.org/")
        #expect(try await site.respond(image).status == .unprocessableContent)
        let problem = try await site.problem(image)
        #expect(problem.type == "/problems/quota-exceeded")
        #expect(problem.detail.contains("10 seconds of image processing in a minute"))
        #expect(try await site.respond(image).headers[.retryAfter] == "6")
        clock.advance(by: .seconds(6))
        #expect(try await site.respond(image).status == .unprocessableContent)
        #expect(try Self.usage(configuration).processorSeconds == 22)
    }

    @Test func `A reload keeps what was used, applies new quotas, and forgets removed keys`() async throws {
        var configuration = try configuration(KeyQuotas(egress: Allowance(amount: 9, period: .seconds(3600))))
        let image = try target("url=https://a.org/")
        let site = TestSite(configuration: configuration)
        for _ in 0..<2 { #expect(try await site.respond(image).status == .ok) }
        #expect(try await TestSite(configuration: configuration).respond(image).status == .tooManyRequests)
        configuration.access.keyQuotas = ["greedy": KeyQuotas(egress: Allowance(amount: 100, period: .seconds(60)))]
        #expect(try await TestSite(configuration: configuration).respond(image).status == .ok)
        #expect(try Self.usage(configuration).egressBytes == 15)
        configuration.access.signingKeys.removeFirst()
        _ = TestSite(configuration: configuration)
        #expect(configuration.accounts.usage.map(\.id) == ["polite"])
    }

    @Test func `Hits in front of the framework are charged and refused too`() async throws {
        let configuration = try configuration(KeyQuotas(egress: Allowance(amount: 180, period: .seconds(3600))))
        let server = HitServer(configuration, clock: clock)
        let image = try target("url=http://a.org/fresh&output=jpg")
        try await server.run { address in
            var client = try await HitClient(address)
            func ask(_ method: String = "GET") async throws -> ReceivedResponse {
                try await client.send("\(method) \(image) HTTP/1.1\r\nHost: x\r\n\r\n")
                return try await client.response(toHead: method == "HEAD")
            }
            // 37 bytes each: a miss, and hits in front of the framework.
            for _ in 0..<4 { #expect(try await ask().body == "jpeg of bytes of fresh at any quality") }
            #expect(try await ask("HEAD").status == "HTTP/1.1 200 OK")
            #expect(try Self.usage(configuration).egressBytes == 4 * 37)
            #expect(try await ask().status == "HTTP/1.1 200 OK")
            #expect(server.answers.count == 5)
            let refused = try await ask()
            #expect(refused.status == "HTTP/1.1 429 Too Many Requests")
            #expect(refused.fields["retry-after"] == ["100"])
            #expect(server.answers.count == 5)
            try await client.close()
        }
        let usage = try Self.usage(configuration)
        #expect(usage.processorSeconds > 0)
        #expect(usage.quotas.map(\.refusals) == [1])
    }

    @Test func `Entries of a key leave the cache for its newer ones, and entries of others stay`() async throws {
        let configuration = try configuration(KeyQuotas(cacheBytes: 110))
        let server = HitServer(configuration, clock: clock)
        let target = target
        try await server.run { address in
            var client = try await HitClient(address)
            func ask(_ query: String, by key: String) async throws -> String {
                let image = try target("url=http://a.org/fresh&output=jpg&\(query)", key)
                try await client.send("GET \(image) HTTP/1.1\r\nHost: x\r\n\r\n")
                let status = try await client.response().fields["cache-status"]?.first ?? ""
                await server.settle()
                return String(status.prefix(14))
            }
            // The original takes 14 bytes and counts for the polite key; a variant takes 36 or 37.
            #expect(try await ask("w=1", by: "polite") == "darkroom;fwd=m")
            for width in 2...9 { _ = try await ask("w=\(width)", by: "greedy") }
            #expect(try await ask("w=9", by: "greedy") == "darkroom;hit;t")
            #expect(try await ask("w=2", by: "greedy") != "darkroom;hit;t")
            #expect(try await ask("w=1", by: "polite") == "darkroom;hit;t")
            try await client.close()
        }
        let usage = try Self.usage(configuration)
        #expect(try #require(usage.cacheBytes) <= 110 && usage.cacheBytes != 0)
        #expect(try #require(usage.cacheRatio) <= 1)
        #expect(try Self.usage(configuration, of: "polite").cacheBytes == nil)
    }
}
