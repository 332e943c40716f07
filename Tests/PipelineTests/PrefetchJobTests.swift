import DarkroomRequests
import Testing

@testable import DarkroomLoading
@testable import DarkroomPipeline

@Suite(.timeLimit(.minutes(5)))
struct PrefetchJobTests {
    private let wall = WallClock()
    private let picture: PrefetchItem

    init() throws {
        picture = try .example("/a")
    }

    private func job(total: Int) -> PrefetchJob { PrefetchJob(total: total, now: { [wall] in wall.now }) }

    @Test func `The remaining time follows from the speed so far`() {
        let job = job(total: 4)
        #expect(job.progress.remaining == nil)
        wall.advance(seconds: 10)
        _ = job.record(.success(1), of: picture)
        #expect(job.progress.remaining == .seconds(30))
        wall.advance(seconds: 10)
        _ = job.record(.failure(.corrupt), of: picture)
        #expect(job.progress.remaining == .seconds(20))
        wall.advance(seconds: -60)
        #expect(job.progress.remaining == .zero)
        for _ in 0..<2 { _ = job.record(.success(1), of: picture) }
        #expect(job.progress.remaining == nil)
    }

    @Test func `A hundred failures are listed, and all are counted`() {
        let job = job(total: 150)
        for _ in 0..<150 { _ = job.record(.failure(.corrupt), of: picture) }
        #expect(job.progress.failures.count == 100)
        #expect(job.progress.failed == 150)
        #expect(job.progress.state == .done)
    }

    @Test func `A job that has ended does not change`() {
        let (done, cancelled) = (job(total: 1), job(total: 1))
        #expect(done.record(.success(1), of: picture))
        done.cancel()
        #expect(done.progress.state == .done)
        cancelled.cancel()
        #expect(!cancelled.record(.success(1), of: picture))
        #expect(cancelled.progress.state == .cancelled && cancelled.progress.done == 0)
    }

    @Test func `A slow reader gets the latest progress and then the end`() async {
        let job = job(total: 3)
        var updates = job.updates.makeAsyncIterator()
        #expect(await updates.next()?.done == 0)
        for _ in 0..<2 { _ = job.record(.success(1), of: picture) }
        #expect(await updates.next()?.done == 2)
        _ = job.record(.success(1), of: picture)
        #expect(await updates.next()?.state == .done)
        #expect(await updates.next() == nil)
    }

    @Test func `All readers get a change`() async {
        let job = job(total: 1)
        let readers = (0..<10).map { _ in Task.immediate { await job.finished()?.state } }
        #expect(job.waiterCount == 10)
        _ = job.record(.success(1), of: picture)
        for reader in readers { #expect(await reader.value == .done) }
        #expect(job.waiterCount == 0)
    }

    @Test func `A canceled reader stops waiting and leaves nothing behind`() async {
        let job = job(total: 1)
        let reader = Task.immediate { await job.finished() }
        #expect(job.waiterCount == 1)
        reader.cancel()
        #expect(await reader.value?.state == .running)
        #expect(job.waiterCount == 0)
        #expect(job.progress.state == .running)
    }
}
