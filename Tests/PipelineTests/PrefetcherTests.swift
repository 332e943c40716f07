import DarkroomOrigin
import DarkroomRequests
import DarkroomTestClock
import Foundation
import Testing

@testable import DarkroomLoading
@testable import DarkroomPipeline

@Suite(.timeLimit(.minutes(5)))
struct PrefetcherTests {
    private let wall = WallClock()
    private let gate = Gate()
    private let pictures: FakePictures

    init() {
        pictures = FakePictures(gate: gate)
    }

    private func prefetcher(concurrency: Int = 2, clock: any Clock<Duration> = ContinuousClock()) -> Prefetcher {
        Prefetcher(concurrency: concurrency, now: { [wall] in wall.now }, clock: clock, load: pictures.load)
    }

    private func paths(_ count: Int, of name: String = "") throws -> [PrefetchItem] {
        try (0..<count).map { try .example("/\(name)\($0)") }
    }

    @Test func `Each item is requested once, in order, and counted with its bytes`() async throws {
        gate.open()
        let job = try prefetcher(concurrency: 1).start(paths(20))
        let end = await job.finished()
        #expect(end?.state == .done)
        #expect(end?.total == 20 && end?.done == 20 && end?.failed == 0 && end?.bytes == 200)
        #expect(pictures.paths == (0..<20).map { "/\($0)" })
    }

    @Test func `Items have background priority and no fallback`() async throws {
        gate.open()
        let request = try ImageRequest(
            url: "http://example.com/a", priority: .high, fallback: "http://example.com/b")
        _ = await (try prefetcher().start([request])).finished()
        #expect(pictures.asked.map(\.priority) == [.background])
        #expect(pictures.asked.allSatisfy { $0.fallback == nil })
    }

    @Test(arguments: [1, 3]) func `The concurrency limit holds over all jobs`(limit: Int) async throws {
        let prefetcher = prefetcher(concurrency: limit)
        let jobs = try (0..<3).map { _ in try prefetcher.start(paths(4)) }
        await gate.holds(limit)
        gate.open()
        for job in jobs { #expect(await job.finished()?.done == 4) }
        #expect(pictures.most == limit)
    }

    @Test func `Jobs take turns`() async throws {
        let prefetcher = prefetcher(concurrency: 1)
        let jobs = [try prefetcher.start(paths(3, of: "a")), try prefetcher.start(paths(3, of: "b"))]
        gate.open()
        for job in jobs { _ = await job.finished() }
        #expect(pictures.paths == ["/a0", "/a1", "/b0", "/a2", "/b1", "/b2"])
    }

    @Test func `An item that fails stops nothing, and its error is listed`() async throws {
        gate.open()
        pictures.fail("/1", .notFound(status: 404))
        let prefetcher = prefetcher()
        let end = await (try prefetcher.start(paths(3))).finished()
        #expect(end?.state == .done && end?.done == 2 && end?.failed == 1)
        let failure = try #require(end?.failures.first)
        #expect(failure.url == "http://example.com/1")
        #expect(failure.label == "/1")
        #expect(failure.error == .notFound(status: 404))
        #expect(prefetcher.itemCounts == (done: 2, failed: 1))
    }

    @Test func `An overloaded server is retried`() async throws {
        gate.open()
        let clock = TestClock()
        pictures.fail("/0", .overloaded(retryAfterSeconds: 3), .overloaded(retryAfterSeconds: 3))
        let job = try prefetcher(clock: clock).start(paths(1))
        for _ in 0..<2 {
            #expect(await clock.nextSleep() == .seconds(3))
            #expect(job.progress.failed == 0)
            clock.advance(by: .seconds(3))
        }
        #expect(await job.finished()?.done == 1)
        #expect(pictures.asked.count == 3)
    }

    @Test func `Canceling a job cancels its work, starts no more of it and leaves other jobs alone`() async throws {
        let prefetcher = prefetcher()
        let job = try prefetcher.start(paths(5, of: "a"))
        await gate.holds(2)
        let other = try prefetcher.start(paths(2, of: "b"))
        prefetcher.cancel(job)
        #expect(job.progress.state == .cancelled)
        await pictures.haveLast(["/b0", "/b1"])
        #expect(pictures.paths.count == 4)
        gate.open()
        #expect(await other.finished()?.done == 2)
        #expect(job.progress.done == 0 && job.progress.failed == 0)
        prefetcher.cancel(other)
        #expect(other.progress.state == .done)
        #expect(prefetcher.itemCounts == (done: 2, failed: 0))
    }

    @Test func `Canceling ends the wait for an overloaded server`() async throws {
        gate.open()
        let clock = TestClock()
        pictures.fail("/0", .overloaded(retryAfterSeconds: 3))
        let prefetcher = prefetcher(clock: clock)
        let job = try prefetcher.start(paths(1))
        _ = await clock.nextSleep()
        prefetcher.cancel(job)
        await clock.nextCancellation()
    }

    @Test func `Shutting down cancels all jobs, and none starts after it`() async throws {
        let prefetcher = prefetcher()
        let jobs = try (0..<3).map { _ in try prefetcher.start(paths(3)) }
        #expect(prefetcher.runningCount == 3)
        prefetcher.shutdown()
        for job in jobs { #expect(await job.finished()?.state == .cancelled) }
        await gate.holds(0)
        #expect(prefetcher.runningCount == 0)
        #expect(throws: PrefetchError.shutDown) { try prefetcher.start(paths(1)) }
    }

    @Test func `An empty job is done at once`() async throws {
        let job = try prefetcher().start([ImageRequest]())
        #expect(job.progress.state == .done)
        #expect(await job.finished()?.total == 0)
    }

    @Test func `A job has ten thousand items at most`() throws {
        let picture = try PrefetchItem.example("/0")
        let prefetcher = prefetcher()
        _ = try prefetcher.start(Array(repeating: picture, count: 10_000))
        #expect(throws: PrefetchError.tooManyItems) {
            try prefetcher.start(Array(repeating: picture, count: 10_001))
        }
        prefetcher.shutdown()
    }

    @Test func `A job is listed for an hour after its end, and found by its identifier`() async throws {
        gate.open()
        let prefetcher = prefetcher()
        let first = try prefetcher.start(paths(1))
        _ = await first.finished()
        wall.advance(seconds: 3_599)
        let second = try prefetcher.start(paths(1))
        _ = await second.finished()
        #expect(prefetcher.jobs.map(\.id) == [second.id, first.id])
        #expect(prefetcher.job(first.id) === first)
        wall.advance(seconds: 1)
        #expect(prefetcher.jobs.map(\.id) == [second.id])
        #expect(prefetcher.job(first.id) == nil)
    }

    @Test func `The job that ended first makes room for a 65th, unless all are running`() async throws {
        let prefetcher = prefetcher()
        let jobs = try (0..<64).map { _ in try prefetcher.start(paths(1)) }
        #expect(throws: PrefetchError.tooManyJobs(retryAfterSeconds: 60)) { try prefetcher.start(paths(1)) }
        prefetcher.cancel(jobs[7])
        wall.advance(seconds: 1)
        prefetcher.cancel(jobs[3])
        let next = try prefetcher.start(paths(1))
        #expect(prefetcher.jobs.count == 64)
        #expect(prefetcher.job(jobs[7].id) == nil)
        #expect(prefetcher.job(jobs[3].id) != nil && prefetcher.job(next.id) != nil)
        prefetcher.shutdown()
    }
}
