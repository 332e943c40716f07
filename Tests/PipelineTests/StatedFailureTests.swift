import DarkroomHTTPCaching
import HTTPTypes
import Testing

@testable import DarkroomPipeline

/// How long error responses that state a freshness lifetime are remembered.
@Suite(.timeLimit(.minutes(5)))
struct StatedFailureTests {
    @Test(
        arguments: [400, 401, 403, 405, 451, 499, 500, 502, 503, 504, 599],
        [("max-age=300", 300.0), ("max-age=300, s-maxage=30", 30), ("max-age=86400", 3_600)])
    func `An error is remembered as long as its response states, for an hour at most`(
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
        arguments: [404, 410, 403, 500, 503, 599],
        ["no-store", "no-store, max-age=60", "max-age=3600, no-store, must-understand"])
    func `A failure whose response says no-store is not remembered, with and without the failure memory`(
        status: Int, control: String
    ) async throws {
        for remembersFailures in [true, false] {
            let bench = try Bench(freshness: FreshnessPolicy(remembersFailures: remembersFailures))
            bench.origin.answer(.status(status, [.cacheControl: control, .retryAfter: "60"]))
            for _ in 0..<2 { _ = try await bench.failure() }
            #expect(bench.origin.fetches.value == 2)
        }
    }

    @Test(
        arguments: [
            (404, HTTPFields(), false), (410, [:], false), (503, [.cacheControl: "max-age=60"], false),
            (403, [:], true), (502, [:], true), (503, [.retryAfter: "60"], true), (599, [:], true),
        ] as [(Int, HTTPFields, Bool)])
    func `A remembered failure says whether HTTP caching alone would have asked again`(
        status: Int, fields: HTTPFields, isBeyondHTTP: Bool
    ) async throws {
        let bench = try Bench(freshness: FreshnessPolicy())
        bench.origin.answer(.status(status, fields))
        _ = try await bench.failure()
        guard case .remembered(_, _, let beyond)? = try await bench.failure() else {
            Issue.record("\(status) is not remembered")
            return
        }
        #expect(beyond == isBeyondHTTP)
    }

    @Test(
        arguments: [
            (403, HTTPFields()), (500, [:]), (503, [.retryAfter: "120"]),
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

    @Test(arguments: [429, 503])
    func `An origin that asks for a day is asked again after five minutes, and another source at once`(
        status: Int
    ) async throws {
        let bench = try Bench(freshness: FreshnessPolicy())
        bench.origin.answer(.status(status, [.retryAfter: "86400"]))
        for _ in 0..<2 { _ = try await bench.failure() }
        #expect(bench.origin.fetches.value == 1)
        guard case .originFailed(let failure)? = try await bench.failure()?.cause else {
            Issue.record("no failure of the origin")
            return
        }
        #expect(failure.retryAfterSeconds == 300)
        bench.wall.advance(seconds: 299)
        _ = try await bench.failure()
        #expect(bench.origin.fetches.value == 1)
        bench.wall.advance(seconds: 2)
        _ = try await bench.failure()
        #expect(bench.origin.fetches.value == 2)
    }

    @Test(arguments: [(403, false), (404, false), (429, true), (500, true), (503, true)])
    func `A stale image is served while the origin fails or limits requests, not when it refuses`(
        status: Int, permits: Bool
    ) {
        let error = PipelineError.originFailed(OriginFailure("No.", receivedStatus: status))
        #expect(error.permitsStale == permits)
    }
}
