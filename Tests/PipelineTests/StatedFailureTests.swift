import DarkroomHTTPCaching
import HTTPTypes
import Testing

@testable import DarkroomPipeline

/// How long error responses that state a freshness lifetime are remembered.
@Suite(.timeLimit(.minutes(2)))
struct StatedFailureTests {
    @Test(
        arguments: [400, 401, 403, 405, 451, 499, 500, 502, 503, 504, 599],
        [("max-age=300", 300.0), ("max-age=300, s-maxage=30", 30), ("max-age=86400", 3_600)])
    func `An error is remembered as long as its response states, for failure-max-age at most`(
        status: Int, stated: (control: String, seconds: Double)
    ) async throws {
        for remembersFailures in [true, false] {
            let bench = try Bench(freshness: FreshnessPolicy(remembersFailures: remembersFailures))
            bench.origin.answer(.status(status, [.cacheControl: stated.control]))
            _ = try await bench.failure()
            bench.wall.advance(seconds: stated.seconds - 1)
            #expect(try await bench.failure()?.cause != nil)
            #expect(bench.origin.fetches.value == 1)
            bench.wall.advance(seconds: 2)
            _ = try await bench.failure()
            #expect(bench.origin.fetches.value == 2)
        }
    }

    @Test(
        arguments: [
            (403, HTTPFields()), (500, [:]), (503, [.retryAfter: "120"]),
            (500, [.cacheControl: "no-store, max-age=60"]),
            (502, [.cacheControl: "max-age=0"]), (206, [.cacheControl: "max-age=60"]),
        ] as [(Int, HTTPFields)])
    func `Without the failure memory, only a stated lifetime keeps the origin from being asked again`(
        status: Int, fields: HTTPFields
    ) async throws {
        for (remembersFailures, fetches) in [(true, 1), (false, 2)] {
            let bench = try Bench(freshness: FreshnessPolicy(remembersFailures: remembersFailures))
            bench.origin.answer(.status(status, fields))
            for _ in 0..<2 { _ = try await bench.failure() }
            #expect(bench.origin.fetches.value == fetches)
        }
    }
}
