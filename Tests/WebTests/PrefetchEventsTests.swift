import DarkroomHTTPServer
import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization
import Testing

@testable import DarkroomPipeline
@testable import DarkroomWeb

@Suite(.timeLimit(.minutes(1)))
struct PrefetchEventsTests {
    private func events(_ job: PrefetchJob, clock: any Clock<Duration> = ContinuousClock()) -> Response {
        PrefetchEvents(job: job, clock: clock).response
    }

    private func json(_ job: PrefetchJob) -> String { String(buffer: .json(PrefetchDocument(job))) }

    @Test func `the stream of a finished job reports its end and ends`() async throws {
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

    @Test func `a stream ends with the cancellation of its job as its last event`() async throws {
        let prefetcher = Prefetcher.held
        let job = try prefetcher.start([try ImageRequest(url: "https://a.org/")])
        let start = json(job)
        let clock = ImpatientClock(sleeps: 0) { prefetcher.cancel(job) }
        let text = try await events(job, clock: clock).text()
        #expect(text.hasSuffix("event: progress\ndata: \(json(job))\n\nevent: end\ndata: \(json(job))\n\n"))
        #expect(json(job).contains(#""state":"cancelled""#))
        #expect(text.components(separatedBy: "event: end").count == 2)
        #expect(start.contains(#""state":"running""#))
    }

    @Test func `a client that disconnects frees the stream, and the job goes on`() async throws {
        let prefetcher = Prefetcher.held
        let job = try prefetcher.start([try ImageRequest(url: "https://a.org/")])
        let (waiting, reportWait) = AsyncStream<Void>.makeStream()
        let stream = events(job, clock: ImpatientClock(sleeps: 0) { reportWait.yield() })
        let reading = Task { try await stream.text() }
        await waiting.first { true }
        reading.cancel()
        await #expect(throws: (any Error).self) { try await reading.value }
        #expect(job.waiterCount == 0)
        #expect(job.progress.state == .running)
        prefetcher.shutdown()
    }

    @Test func `a stream ends when the server shuts down its jobs`() async throws {
        let prefetcher = Prefetcher.held
        let job = try prefetcher.start([try ImageRequest(url: "https://a.org/")])
        let text = try await events(job, clock: ImpatientClock(sleeps: 0) { prefetcher.shutdown() }).text()
        #expect(text.contains("event: end\ndata: "))
    }

    @Test func `an idle stream sends a heartbeat`() async throws {
        let prefetcher = Prefetcher.held
        let job = try prefetcher.start([try ImageRequest(url: "https://a.org/")])
        let clock = ImpatientClock(sleeps: 3) { prefetcher.cancel(job) }
        let text = try await events(job, clock: clock).text()
        let comments = text.components(separatedBy: "\n\n").filter { $0.hasPrefix(":") }
        #expect((2...3).contains(comments.count))
        #expect(clock.durations.withLock { $0.allSatisfy { $0 == .seconds(15) } })
    }

    @Test func `a source's text cannot inject lines into a stream`() async throws {
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

/// A clock whose first sleeps are over at once; the next says that it has begun, and lasts until it is cancelled.
private final class ImpatientClock: Clock {
    struct Instant: InstantProtocol {
        var offset: Swift.Duration
        func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Swift.Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    let durations = Mutex<[Swift.Duration]>([])
    private let left: Mutex<Int>
    private let onRest: @Sendable () -> Void

    init(sleeps: Int, onRest: @escaping @Sendable () -> Void) {
        left = Mutex(sleeps)
        self.onRest = onRest
    }

    var now: Instant { Instant(offset: .zero) }
    var minimumResolution: Swift.Duration { .zero }

    func sleep(until deadline: Instant, tolerance: Swift.Duration?) async throws {
        durations.withLock { $0.append(deadline.offset) }
        let isOver = left.withLock { left in
            left -= 1
            return left >= 0
        }
        if isOver { return }
        onRest()
        let (never, source) = AsyncStream<Void>.makeStream()
        await never.first { true }
        withExtendedLifetime(source) {}
        throw CancellationError()
    }
}
