import Testing

@testable import DarkroomWeb

struct RateTests {
    @Test(arguments: [
        ("20/s", 20, Duration.seconds(1), "20 requests per second"), ("1/s", 1, .seconds(1), "1 request per second"),
        ("600/m", 600, .seconds(60), "600 requests per minute"),
        ("1000000/h", 1_000_000, .seconds(3600), "1000000 requests per hour"),
    ])
    func `a rate is a number of requests and a unit of time`(
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
    func `anything else is not a rate`(text: String) {
        #expect(Rate(text) == nil)
    }
}
