import DarkroomPipeline
import HTTPTypes
import HummingbirdCore
import Synchronization
import Testing

@testable import DarkroomQuery
@testable import DarkroomWeb

struct RateLimitTests {
    private final class Hand: Sendable {
        private let time = Mutex(Duration.zero)
        var now: Duration { time.withLock { $0 } }
        func move(_ duration: Duration) { time.withLock { $0 += duration } }
    }

    private let hand = Hand()

    private func limiter(maxClients: Int = 100) -> RateLimiter {
        RateLimiter(maxClients: maxClients) { [hand] in hand.now }
    }

    @Test func `a client may send all its requests at once, and then as they come back`() throws {
        let limiter = limiter()
        let rate = try #require(Rate("4/s"))
        for _ in 0..<4 { #expect(limiter.admit("a", rate) == nil) }
        #expect(limiter.admit("a", rate) == .milliseconds(250))
        hand.move(.milliseconds(100))
        #expect(limiter.admit("a", rate) == .milliseconds(150))
        #expect(limiter.admit("b", rate) == nil)
        hand.move(.milliseconds(150))
        #expect(limiter.admit("a", rate) == nil)
        #expect(limiter.admit("a", rate) != nil)
        hand.move(.seconds(3600))
        for _ in 0..<4 { #expect(limiter.admit("a", rate) == nil) }
        #expect(limiter.admit("a", rate) != nil)
    }

    @Test(arguments: ["1/s", "7/m", "1000/h", "3/s"])
    func `within any time no more is admitted than the rate allows`(text: String) throws {
        let rate = try #require(Rate(text))
        let limiter = limiter()
        var admitted: [Duration] = []
        for _ in 0..<3000 {
            hand.move(rate.period * Double.random(in: 0..<1.5) / Double(rate.requests))
            if limiter.admit("a", rate) == nil { admitted.append(hand.now) }
        }
        for (first, start) in admitted.enumerated() {
            for last in first..<min(first + 2 * rate.requests, admitted.count) {
                let allowance = Double(rate.requests) * (1 + (admitted[last] - start) / rate.period)
                #expect(Double(last - first + 1) <= allowance + 0.001)
            }
        }
    }

    @Test func `a flood of other clients does not fill a busy client's bucket`() throws {
        let limiter = limiter(maxClients: 50)
        let rate = try #require(Rate("10/h"))
        for _ in 0..<10 { _ = limiter.admit("busy", rate) }
        for number in 0..<10_000 { #expect(limiter.admit("\(number)", rate) == nil) }
        #expect(limiter.admit("busy", rate) != nil)
    }

    @Test func `full buckets make room first`() throws {
        let limiter = limiter(maxClients: 3)
        let (slow, fast) = (try #require(Rate("1/h")), try #require(Rate("1/s")))
        for client in ["a", "b"] { _ = limiter.admit(client, slow) }
        _ = limiter.admit("c", fast)
        hand.move(.seconds(2))
        #expect(limiter.admit("d", slow) == nil)
        for client in ["a", "b", "d"] { #expect(limiter.admit(client, slow) != nil) }
    }

    private func site() -> TestSite {
        var configuration = WebConfiguration.test(token: "t")
        configuration.visitors.rateLimit = Rate("2/h")
        return TestSite(configuration: configuration)
    }

    @Test(arguments: [
        "/image?url=https://a.org/", "/info?url=https://a.org/", "/explain?url=https://a.org/", "/image?nonsense",
    ])
    func `whoever asks too often is told when to come back, before the query is read`(target: String) async throws {
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
    func `a key with a rate of its own has that, whatever the address; other keys' requests count for the address`()
        async throws
    {
        let secret = "correct-horse-battery-staple-0123"
        let slow = try SigningKey(id: "slow", secret: secret)
        let plain = try SigningKey(id: "plain", secret: secret)
        var configuration = WebConfiguration.test(token: "t")
        configuration.visitors.rateLimit = Rate("2/h")
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

    @Test func `what costs nothing has no limit`() async throws {
        let site = site()
        for path in ["/health/live", "/health/ready", "/", "/problems", "/openapi.yaml"] {
            for _ in 0..<5 { #expect(try await site.respond(path).status == .ok) }
        }
    }
}
