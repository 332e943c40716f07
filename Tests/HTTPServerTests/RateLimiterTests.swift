import DarkroomTestClock
import Testing

@testable import DarkroomHTTPServer

struct RateTests {
    @Test(arguments: [
        ("20/s", 20, Duration.seconds(1), "20 requests per second"), ("1/s", 1, .seconds(1), "1 request per second"),
        ("600/m", 600, .seconds(60), "600 requests per minute"),
        ("1000000/h", 1_000_000, .seconds(3600), "1000000 requests per hour"),
    ])
    func `A rate is a number of requests and a unit of time`(
        text: String, requests: Int, period: Duration, words: String
    ) throws {
        let rate = try #require(Rate(text))
        #expect(rate.requests == requests)
        #expect(rate.period == period)
        #expect("\(rate)" == words)
    }

    @Test(arguments: [
        "", "20", "/s", "20/", "0/s", "-1/s", "+1/s", "1.5/s", "1000001/s", "20/d", "20/s/s", " 20/s", "20 /s", "20/S",
        "٢/s", "99999999999999999999/s",
    ])
    func `Anything else is not a rate`(text: String) {
        #expect(Rate(text) == nil)
    }
}

struct FurtherTokenTests {
    private let clock = TestClock()

    @Test func `A request may take further tokens, or leaves the bucket as it was`() throws {
        let limiter = RateLimiter { [clock] in clock.elapsed }
        let rate = try #require(Rate("4/s"))
        #expect(limiter.admit("a", rate) == nil)
        #expect(limiter.admit("a", rate, further: 2) == nil)
        #expect(limiter.admit("a", rate) == nil)
        clock.advance(by: .milliseconds(500))
        // Of two tokens, one is taken: two more will be there in a quarter of a second.
        #expect(limiter.admit("a", rate) == nil)
        #expect(limiter.admit("a", rate, further: 2) == .milliseconds(250))
        clock.advance(by: .milliseconds(250))
        #expect(limiter.admit("a", rate) == nil)
        #expect(limiter.admit("a", rate, further: 2) == nil)
        #expect(limiter.admit("a", rate) != nil)
    }

    @Test func `No request takes more than a full bucket`() throws {
        let limiter = RateLimiter { [clock] in clock.elapsed }
        for text in ["1/s", "3/s"] {
            let rate = try #require(Rate(text))
            #expect(limiter.admit(text, rate) == nil)
            #expect(limiter.admit(text, rate, further: 8) == nil)
            #expect(limiter.admit(text, rate) != nil)
        }
    }
}

struct RateLimiterTests {
    private let clock = TestClock()

    private func limiter(maxClients: Int = 100) -> RateLimiter {
        RateLimiter(maxClients: maxClients) { [clock] in clock.elapsed }
    }

    @Test func `A client may spend its whole bucket at once, and then tokens as they refill`() throws {
        let limiter = limiter()
        let rate = try #require(Rate("4/s"))
        for _ in 0..<4 { #expect(limiter.admit("a", rate) == nil) }
        #expect(limiter.admit("a", rate) == .milliseconds(250))
        clock.advance(by: .milliseconds(100))
        #expect(limiter.admit("a", rate) == .milliseconds(150))
        #expect(limiter.admit("b", rate) == nil)
        clock.advance(by: .milliseconds(150))
        #expect(limiter.admit("a", rate) == nil)
        #expect(limiter.admit("a", rate) != nil)
        clock.advance(by: .seconds(3600))
        for _ in 0..<4 { #expect(limiter.admit("a", rate) == nil) }
        #expect(limiter.admit("a", rate) != nil)
    }

    @Test(arguments: ["1/s", "7/m", "1000/h", "3/s"])
    func `Within any period, no more requests are admitted than the rate allows`(text: String) throws {
        let rate = try #require(Rate(text))
        let limiter = limiter()
        var admitted: [Duration] = []
        for _ in 0..<3000 {
            clock.advance(by: rate.period * Double.random(in: 0..<1.5) / Double(rate.requests))
            if limiter.admit("a", rate) == nil { admitted.append(clock.elapsed) }
        }
        for (first, start) in admitted.enumerated() {
            for last in first..<min(first + 2 * rate.requests, admitted.count) {
                let allowance = Double(rate.requests) * (1 + (admitted[last] - start) / rate.period)
                #expect(Double(last - first + 1) <= allowance + 0.001)
            }
        }
    }

    @Test func `After the period becomes shorter, a client waits no longer than the new one`() throws {
        let limiter = limiter()
        let (slow, fast) = (try #require(Rate("4/h")), try #require(Rate("4/s")))
        for _ in 0..<4 { #expect(limiter.admit("a", slow) == nil) }
        #expect(limiter.admit("a", slow) == .seconds(900))
        #expect(limiter.admit("a", fast) == .milliseconds(250))
        clock.advance(by: .milliseconds(250))
        #expect(limiter.admit("a", fast) == nil)
        #expect(limiter.admit("a", fast) == .milliseconds(250))
    }

    @Test func `A flood of other clients does not refill a busy client's bucket`() throws {
        let limiter = limiter(maxClients: 50)
        let rate = try #require(Rate("10/h"))
        for _ in 0..<10 { _ = limiter.admit("busy", rate) }
        for number in 0..<10_000 { #expect(limiter.admit("\(number)", rate) == nil) }
        #expect(limiter.admit("busy", rate) != nil)
    }

    @Test func `Full buckets are evicted first`() throws {
        let limiter = limiter(maxClients: 3)
        let (slow, fast) = (try #require(Rate("1/h")), try #require(Rate("1/s")))
        for client in ["a", "b"] { _ = limiter.admit(client, slow) }
        _ = limiter.admit("c", fast)
        clock.advance(by: .seconds(2))
        #expect(limiter.admit("d", slow) == nil)
        for client in ["a", "b", "d"] { #expect(limiter.admit(client, slow) != nil) }
    }
}
