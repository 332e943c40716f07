import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomRequests
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomLoading
@testable import DarkroomPipeline

/// Prefetching together with requests, over a whole pipeline.
@Suite(.timeLimit(.minutes(5)))
struct PrefetchSharingTests {
    private let gate = Gate()
    private let bench: Bench
    private let prefetcher: Prefetcher

    init() throws {
        bench = try Bench(.control("max-age=60"), gate: gate)
        prefetcher = Prefetcher(bench.pipeline)
    }

    /// The current priority of the first download.
    private var urgency: OriginRequest.Priority? { bench.origin.requests.first?.urgency() }

    /// A request for the image that is being prefetched, which has joined.
    private func join() throws -> Task<ImageResponse, any Error> {
        var request = try bench.request()
        request.priority = .high
        let wanted = request
        let live = Task.immediate { [bench] in try await bench.pipeline.image(for: wanted) }
        #expect(urgency == .high)
        return live
    }

    @Test func `A prefetched image is cached when it is requested`() async throws {
        gate.open()
        let job = try prefetcher.start([try bench.request(width: 20), try bench.request(width: 10)])
        let end = await job.finished()
        #expect(end?.done == 2)
        let answers = [try await bench.ask(width: 20), try await bench.ask(width: 10)]
        #expect(answers.allSatisfy { $0.cache == CacheReport(variant: .memory) })
        #expect(end?.bytes == answers.map(\.body.readableBytes).reduce(0, +))
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `A request joins the work for a job and raises its priority`() async throws {
        let job = try prefetcher.start([try bench.request()])
        await bench.origin.fetches.reaches(1)
        #expect(urgency == .background)
        let live = try join()
        gate.open()
        #expect(try await live.value.cache.isShared)
        #expect(await job.finished()?.done == 1)
        #expect(bench.origin.fetches.value == 1)
        #expect(bench.processing.runs.value == 1)
    }

    @Test func `Canceling a job does not affect a request that shares its work`() async throws {
        let job = try prefetcher.start([try bench.request()])
        await bench.origin.fetches.reaches(1)
        let live = try join()
        prefetcher.cancel(job)
        gate.open()
        _ = try await live.value
        #expect(bench.origin.fetches.value == 1)
        #expect(bench.origin.cancelled.value == 0)
    }

    @Test func `Canceling a job cancels a download that no request shares`() async throws {
        let job = try prefetcher.start([try bench.request()])
        await gate.holds(1)
        prefetcher.cancel(job)
        await bench.origin.cancelled.reaches(1)
    }

    @Test func `After a purge a job continues and stores nothing from before it`() async throws {
        let job = try prefetcher.start([try bench.request()])
        await gate.holds(1)
        await bench.pipeline.purge(.source(.example))
        gate.open()
        #expect(await job.finished()?.done == 1)
        #expect(bench.disk.count == 0)
        #expect(try await bench.ask().cache.forwarded == .miss)
    }
}
