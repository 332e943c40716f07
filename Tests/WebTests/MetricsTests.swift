import CoreMetrics
import DarkroomCache
import DarkroomHTTPCaching
import DarkroomPipeline
import DarkroomRequests
import HTTPTypes
import Hummingbird
import Synchronization
import Testing

@testable import DarkroomWeb

struct MetricsTests {
    private let metrics = RecordingMetrics()

    private func site(
        _ picture: @escaping @Sendable (ImageRequest) async throws(PipelineError) -> ImageResponse = { _ in .stub() }
    ) -> TestSite {
        TestSite(observability: .idle(metrics: metrics), image: picture)
    }

    @Test func `Requests are counted by route, method and status code, and timed by status class`() async throws {
        let site = site()
        _ = try await site.respond("/image?url=https://example.com/")
        _ = try await site.respond("/image?url=https://example.com/", method: .head)
        _ = try await site.respond("/image?w=0")
        _ = try await site.respond("/health/live")
        let (count, duration) = ("darkroom_http_requests_total", "darkroom_http_request_duration_seconds")
        #expect(metrics.events(count, "GET /image 2xx 200") == 1)
        #expect(metrics.events(count, "HEAD /image 2xx 200") == 1)
        #expect(metrics.events(count, "GET /image 4xx 400") == 1)
        #expect(metrics.events(count, "GET /health/live 2xx 200") == 1)
        #expect(metrics.events(duration, "GET /image 2xx hit") == 1)
        #expect(metrics.events(duration, "HEAD /image 2xx hit") == 1)
        #expect(metrics.events(duration, "GET /image 4xx none") == 1)
        #expect(metrics.events(duration, "GET /health/live 2xx none") == 1)
        #expect(metrics.events("darkroom_http_problems_total", "invalid-parameter") == 1)
        #expect(metrics.events("darkroom_http_problems_total", "internal-error") == 0)
    }

    @Test func `Hits and misses have durations of their own, and statuses of a class share them`() async throws {
        let results = Mutex([CacheReport(variant: .memory), CacheReport(original: .disk), CacheReport(variant: .disk)])
        let site = site { _ in .stub(cache: results.withLock { $0.removeFirst() }) }
        for _ in 0..<3 { _ = try await site.respond("/image?url=https://example.com/") }
        _ = try await site.respond("/image", method: .post)
        _ = try await site.respond("/image?w=0", method: .post)
        let duration = "darkroom_http_request_duration_seconds"
        #expect(metrics.events(duration, "GET /image 2xx hit") == 2)
        #expect(metrics.events(duration, "GET /image 2xx miss") == 1)
        #expect(metrics.events(duration, "POST /image 4xx none") == 2)
    }

    @Test func `Images have a count of each status that they may have from the start`() async throws {
        _ = site()
        let counted = Set(metrics.labels("darkroom_http_requests_total"))
        #expect(counted.isSuperset(of: ["GET /image 2xx 200", "GET /image 3xx 304"]))
        #expect(counted.isSuperset(of: [500, 502, 503, 504].map { "GET /image 5xx \($0)" }))
    }

    @Test func `Text invented by clients never becomes a label`() async throws {
        let site = site()
        for number in 0..<50 {
            _ = try await site.respond("/made-up/\(number)")
            _ = try await site.respond("/image", method: #require(HTTPRequest.Method("MADE\(number)")))
        }
        #expect(metrics.events("darkroom_http_requests_total", "GET none 4xx 404") == 50)
        #expect(metrics.events("darkroom_http_requests_total", "other /image 4xx 405") == 50)
        #expect(metrics.labels("darkroom_http_request_duration_seconds").count == 2)
    }

    @Test(arguments: [
        (ImageResponse.stub(cache: CacheReport(variant: .memory)), "hit_memory"),
        (.stub(cache: CacheReport(variant: .disk)), "hit_disk"),
        (.stub(cache: CacheReport(original: .disk)), "hit_original"),
        (.stub(cache: CacheReport(variant: .memory, forwarded: .stale, originStatus: 304)), "revalidated"),
        (.stub(cache: CacheReport(forwarded: .miss, originStatus: 200)), "miss"),
        (.stub(cache: CacheReport(forwarded: .stale, originStatus: 200)), "miss"),
        (.stub(cache: CacheReport(variant: .memory), remaining: .seconds(-1)), "stale"),
        (.stub(cache: CacheReport(variant: .disk, staleBecause: .originUnavailable(retryAfterSeconds: 1))), "stale"),
        (.stub(cache: CacheReport(variant: .memory), fallbackReason: .corrupt), "fallback"),
    ])
    func `An image counts by where it came from`(picture: ImageResponse, result: String) async throws {
        _ = try await ImageMetrics(metrics).measure { () throws(PipelineError) in picture }
        let counted = metrics.labels("darkroom_image_answers_total").filter {
            metrics.events("darkroom_image_answers_total", $0) > 0
        }
        #expect(counted == [result])
    }

    @Test func `Only stages that an image needed are timed`() async throws {
        _ = try await ImageMetrics(metrics).measure { () throws(PipelineError) in .stub() }
        #expect(metrics.sum("darkroom_image_stage_duration_seconds", "fetch") == 31_250_000)
        #expect(metrics.sum("darkroom_image_stage_duration_seconds", "process") == 12_000_000)
        #expect(metrics.events("darkroom_image_stage_duration_seconds", "queue") == 0)
        #expect(metrics.events("darkroom_image_stage_duration_seconds", "store") == 0)
    }

    @Test func `A failure is counted and rethrown`() async throws {
        await #expect(throws: PipelineError.corrupt) {
            try await ImageMetrics(metrics).measure { () throws(PipelineError) in throw .corrupt }
        }
        #expect(metrics.events("darkroom_image_answers_total", "failure") == 1)
    }

    @Test func `Every metric recorded here has a help text`() async throws {
        _ = try await ImageMetrics(metrics).measure { () throws(PipelineError) in .stub() }
        _ = try await site().respond("/health/live")
        #expect(metrics.names == Set(Observability.help.keys))
        #expect(!Observability.help.values.contains { $0.isEmpty })
    }
}

/// Keeps what is counted: how often, and the sum, by name and the values of the labels in the order given.
final class RecordingMetrics: MetricsFactory {
    private struct Total {
        var events = 0
        var sum: Int64 = 0
    }

    private let totals = Mutex<[String: [String: Total]]>([:])

    var names: Set<String> { totals.withLock { Set($0.keys) } }
    func labels(_ name: String) -> [String] { totals.withLock { $0[name]?.keys.sorted() ?? [] } }
    func events(_ name: String, _ labels: String) -> Int { totals.withLock { $0[name]?[labels]?.events ?? 0 } }
    func sum(_ name: String, _ labels: String) -> Int64 { totals.withLock { $0[name]?[labels]?.sum ?? 0 } }

    private final class Handler: CounterHandler, TimerHandler, RecorderHandler {
        let note: @Sendable (Int64) -> Void

        init(_ note: @escaping @Sendable (Int64) -> Void) {
            self.note = note
        }

        func increment(by amount: Int64) { note(amount) }
        func reset() {}
        func recordNanoseconds(_ duration: Int64) { note(duration) }
        func record(_ value: Int64) { note(value) }
        func record(_ value: Double) { note(Int64(value)) }
    }

    private func handler(_ name: String, _ dimensions: [(String, String)]) -> Handler {
        let order = ["method", "route", "status", "code", "cache"]
        let labels = dimensions.sorted { (order.firstIndex(of: $0.0) ?? 9) < (order.firstIndex(of: $1.0) ?? 9) }
            .map(\.1).joined(separator: " ")
        totals.withLock { $0[name, default: [:]][labels] = Total() }
        return Handler { [self] amount in
            totals.withLock {
                $0[name]?[labels]?.events += 1
                $0[name]?[labels]?.sum += amount
            }
        }
    }

    func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler { handler(label, dimensions) }
    func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        handler(label, dimensions)
    }
    func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler { handler(label, dimensions) }
    func destroyCounter(_ handler: any CounterHandler) {}
    func destroyRecorder(_ handler: any RecorderHandler) {}
    func destroyTimer(_ handler: any TimerHandler) {}
}
