import DarkroomHTTPCaching
import DarkroomOrigin
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomPipeline

/// What prefetching has to do with live requests, over a whole pipeline.
@Suite(.timeLimit(.minutes(1)))
struct PrefetchSharingTests {
    private let gate = Gate()
    private let bench: Bench
    private let prefetcher: Prefetcher

    init() throws {
        bench = try Bench(.control("max-age=60"), gate: gate)
        prefetcher = Prefetcher(bench.pipeline)
    }

    /// The priority that the first download has now.
    private var urgency: OriginRequest.Priority? { bench.origin.requests.first?.urgency() }

    /// A live request for what is being prefetched, once it has joined.
    private func join() async throws -> Task<ImageResponse, any Error> {
        var request = try bench.request()
        request.priority = .high
        let wanted = request
        let live = Task { [bench] in try await bench.pipeline.image(for: wanted) }
        await until { urgency == .high }
        return live
    }

    @Test func `What was prefetched is there when it is asked for`() async throws {
        gate.open()
        let job = try prefetcher.start([try bench.request(width: 20), try bench.request(width: 10)])
        let end = await job.finished()
        #expect(end?.done == 2)
        let answers = [try await bench.ask(width: 20), try await bench.ask(width: 10)]
        #expect(answers.allSatisfy { $0.cache == CacheReport(variant: .memory) })
        #expect(end?.bytes == answers.map(\.body.readableBytes).reduce(0, +))
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `A live request joins the work for a job and makes it as urgent as itself`() async throws {
        let job = try prefetcher.start([try bench.request()])
        await until { bench.origin.fetches.value == 1 }
        #expect(urgency == .background)
        let live = try await join()
        gate.open()
        #expect(try await live.value.cache.isShared)
        #expect(await job.finished()?.done == 1)
        #expect(bench.origin.fetches.value == 1)
        #expect(bench.processing.runs.value == 1)
    }

    @Test func `Cancelling a job takes nothing from a live request that shares its work`() async throws {
        let job = try prefetcher.start([try bench.request()])
        await until { bench.origin.fetches.value == 1 }
        let live = try await join()
        prefetcher.cancel(job)
        gate.open()
        _ = try await live.value
        #expect(bench.origin.fetches.value == 1)
        #expect(bench.origin.cancelled.value == 0)
    }

    @Test func `Cancelling a job ends a download that nobody else waits for`() async throws {
        let job = try prefetcher.start([try bench.request()])
        await until { gate.waitingCount == 1 }
        prefetcher.cancel(job)
        await until { bench.origin.cancelled.value == 1 }
    }

    @Test func `A purge meanwhile is obeyed: the job goes on, and keeps nothing from before it`() async throws {
        let job = try prefetcher.start([try bench.request()])
        await until { gate.waitingCount == 1 }
        await bench.pipeline.purge(.source(.example))
        gate.open()
        #expect(await job.finished()?.done == 1)
        #expect(bench.disk.count == 0)
        #expect(try await bench.ask().cache.forwarded == .miss)
    }
}
