import DarkroomHTTPServer
import DarkroomRequests
import DarkroomTestClock
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Testing

@testable import DarkroomLoading
@testable import DarkroomPipeline
@testable import DarkroomWeb

@Suite(.timeLimit(.minutes(5)))
struct PrefetchEventsTests {
    private func events(_ job: PrefetchJob, clock: any Clock<Duration> = ContinuousClock()) -> Response {
        PrefetchEvents(job: job, clock: clock).response
    }

    private func json(_ job: PrefetchJob) -> String { String(buffer: .json(PrefetchDocument(job))) }

    @Test func `The stream of a finished job reports its end and ends`() async throws {
        let prefetcher = Prefetcher { _ in .stub() }
        let job = try prefetcher.start([try ImageRequest(url: "https://a.org/")])
        for await _ in job.updates {}
        let response = events(job)
        #expect(response.headers[.contentType] == "text/event-stream")
        #expect(response.headers[.cacheControl] == "no-store")
        #expect(response.headers[.contentLength] == nil)
        let json = json(job)
        #expect(try await response.text() == "event: progress\ndata: \(json)\n\nevent: end\ndata: \(json)\n\n")
    }

    @Test func `A stream ends with the cancellation of its job as its last event`() async throws {
        let prefetcher = Prefetcher.held
        let job = try prefetcher.start([try ImageRequest(url: "https://a.org/")])
        let start = json(job)
        let clock = TestClock()
        async let stream = events(job, clock: clock).text()
        _ = await clock.nextSleep()
        prefetcher.cancel(job)
        let text = try await stream
        #expect(text.hasSuffix("event: progress\ndata: \(json(job))\n\nevent: end\ndata: \(json(job))\n\n"))
        #expect(json(job).contains(#""state":"cancelled""#))
        #expect(text.components(separatedBy: "event: end").count == 2)
        #expect(start.contains(#""state":"running""#))
    }

    @Test func `A client that disconnects frees the stream, and the job goes on`() async throws {
        let prefetcher = Prefetcher.held
        let job = try prefetcher.start([try ImageRequest(url: "https://a.org/")])
        let clock = TestClock()
        let stream = events(job, clock: clock)
        let reading = Task { try await stream.text() }
        _ = await clock.nextSleep()
        reading.cancel()
        await #expect(throws: (any Error).self) { try await reading.value }
        #expect(job.waiterCount == 0)
        #expect(job.progress.state == .running)
        prefetcher.shutdown()
    }

    @Test func `A stream ends when the server shuts down its jobs`() async throws {
        let prefetcher = Prefetcher.held
        let job = try prefetcher.start([try ImageRequest(url: "https://a.org/")])
        let clock = TestClock()
        async let stream = events(job, clock: clock).text()
        _ = await clock.nextSleep()
        prefetcher.shutdown()
        #expect(try await stream.contains("event: end\ndata: "))
    }

    @Test func `An idle stream sends a heartbeat`() async throws {
        let prefetcher = Prefetcher.held
        let job = try prefetcher.start([try ImageRequest(url: "https://a.org/")])
        let clock = TestClock()
        async let stream = events(job, clock: clock).text()
        // The first sleep may end with the first progress.
        for _ in 0..<3 {
            #expect(await clock.nextSleep() == .seconds(15))
            clock.advance(by: .seconds(15))
        }
        _ = await clock.nextSleep()
        prefetcher.cancel(job)
        let comments = try await stream.components(separatedBy: "\n\n").filter { $0.hasPrefix(":") }
        #expect((2...3).contains(comments.count))
    }

    @Test func `A source's text cannot inject lines into a stream`() async throws {
        let prefetcher = Prefetcher { _ throws(PipelineError) in throw .notAllowed("a\nb\r\nevent: end\u{2028}") }
        let job = try prefetcher.start([PrefetchItem(try ImageRequest(url: "https://a.org/"), label: "x\n\ny")])
        for await _ in job.updates {}
        let lines = try await events(job).text().replacing("\r", with: "\n").components(separatedBy: "\n")
        for line in lines where !line.isEmpty {
            #expect(line == "event: progress" || line == "event: end" || line.hasPrefix("data: {"))
        }
        #expect(lines.count(where: { $0.hasPrefix("event: ") }) == 2)
    }
}
