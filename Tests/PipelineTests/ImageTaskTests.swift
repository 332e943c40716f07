import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomWaiting
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomLoading
@testable import DarkroomPipeline

/// The progress of requests.
@Suite(.timeLimit(.minutes(5)))
struct ImageTaskTests {
    private let origin: PiecewiseOrigin
    private let pipeline: ImagePipeline
    private let request: ImageRequest

    init() throws {
        origin = PiecewiseOrigin(try Pictures.red.get())
        pipeline = ImagePipeline(
            origin: origin, memory: MemoryStore(budgetBytes: 1 << 20), now: { WallClock.start })
        request = try ImageRequest(url: "http://example.com/a.png", width: 20)
    }

    private func progress(_ progress: ImageTask.Progress?) throws -> ImageTask.Progress { try #require(progress) }

    @Test func `A task reports its progress, and then has the image`() async throws {
        let task = pipeline.imageTask(for: request)
        var events = task.progress.makeAsyncIterator()
        await origin.send(upTo: 10)
        let first = try progress(await events.next())
        #expect(first == ImageTask.Progress(receivedBytes: 10, expectedBytes: origin.count))
        #expect(first.fraction == 10 / Double(origin.count))
        await origin.send(upTo: 20)
        #expect(try progress(await events.next()).receivedBytes == 20)
        origin.finish()
        #expect(try progress(await events.next()).fraction == 1)
        #expect(await events.next() == nil)
        #expect(try await task.value.body.readableBytes > 0)
        #expect(try await task.value.digest == task.value.digest)
    }

    @Test func `A slow consumer gets the latest event and delays nothing`() async throws {
        let task = pipeline.imageTask(for: request)
        for bytes in 1...30 { await origin.send(upTo: bytes) }
        var events = task.progress.makeAsyncIterator()
        #expect(try progress(await events.next()).receivedBytes == 30)
        origin.finish()
        _ = try await task.value
        #expect(try progress(await events.next()).receivedBytes == origin.count)
        #expect(await events.next() == nil)
    }

    @Test func `Without an announced length no total is expected`() async throws {
        let origin = PiecewiseOrigin(try Pictures.red.get(), announcesLength: false)
        let pipeline = ImagePipeline(origin: origin, memory: MemoryStore(budgetBytes: 0))
        let task = pipeline.imageTask(for: request)
        var events = task.progress.makeAsyncIterator()
        await origin.send(upTo: 10)
        let first = try progress(await events.next())
        #expect(first == ImageTask.Progress(receivedBytes: 10, expectedBytes: nil))
        #expect(first.fraction == nil)
    }

    @Test func `All tasks that share a download get its progress`() async throws {
        let (pipeline, request) = (pipeline, request)
        let first = Task { try await pipeline.image(for: request) }
        await origin.fetches.reaches(1)
        let wider = try ImageRequest(url: "http://example.com/a.png", width: 30)
        let second = pipeline.imageTask(for: request)
        let third = pipeline.imageTask(for: wider)
        #expect(pipeline.resolver.fetcher.fetches.waiterCount == 3)
        await origin.send(upTo: 10)
        for task in [second, third] {
            var events = task.progress.makeAsyncIterator()
            #expect(try progress(await events.next()).receivedBytes == 10)
        }
        origin.finish()
        #expect(try await second.value.digest == first.value.digest)
        _ = try await third.value
        #expect(origin.fetches.value == 1)
        #expect(pipeline.resolver.fetcher.fetches.count == 0)
    }

    @Test func `An image from a cache has no events`() async throws {
        origin.finish()
        _ = try await pipeline.image(for: request)
        let task = pipeline.imageTask(for: request)
        var events = task.progress.makeAsyncIterator()
        #expect(await events.next() == nil)
        #expect(try await task.value.cache.variant == .memory)
    }

    @Test func `A failure ends the events, and the value throws it`() async throws {
        let task = pipeline.imageTask(for: request)
        origin.fail(.unreachable(.incomplete))
        for await event in task.progress { Issue.record("\(event)") }
        await #expect(throws: PipelineError.self) { try await task.value }
    }

    @Test func `The fallback's download is reported after the source's`() async throws {
        var request = request
        request.fallback = try SourceURL(parsing: "http://example.com/b.png")
        let task = pipeline.imageTask(for: request)
        var events = task.progress.makeAsyncIterator()
        await origin.send(upTo: 40)
        #expect(try progress(await events.next()).receivedBytes == 40)
        origin.fail(.unreachable(.incomplete))
        await origin.fetches.reaches(2)
        await origin.send(upTo: 5)
        #expect(try progress(await events.next()).receivedBytes == 5)
        origin.finish()
        #expect(try await task.value.fallbackReason != nil)
    }

    // MARK: Cancellation

    @Test func `Canceling a task cancels the download`() async throws {
        let task = pipeline.imageTask(for: request)
        await origin.fetches.reaches(1)
        task.cancel()
        await #expect(throws: PipelineError.cancelled) { try await task.value }
        for await event in task.progress { Issue.record("\(event)") }
        await origin.cancelled.reaches(1)
    }

    @Test func `Canceling the task that awaits the value cancels the download`() async throws {
        let task = pipeline.imageTask(for: request)
        await origin.fetches.reaches(1)
        let waiting = Task { try await task.value }
        waiting.cancel()
        await #expect(throws: PipelineError.cancelled) { try await waiting.value }
        await origin.cancelled.reaches(1)
    }

    @Test func `Releasing a task cancels its download`() async throws {
        var task: ImageTask? = pipeline.imageTask(for: request)
        await origin.fetches.reaches(1)
        #expect(task != nil)
        task = nil
        await origin.cancelled.reaches(1)
    }

    @Test func `An iterator of the events keeps the task alive`() async throws {
        var events = pipeline.imageTask(for: request).progress.makeAsyncIterator()
        await origin.send(upTo: 10)
        #expect(try progress(await events.next()).receivedBytes == 10)
        origin.finish()
        #expect(try progress(await events.next()).receivedBytes == origin.count)
        #expect(await events.next() == nil)
        #expect(origin.cancelled.value == 0)
    }

    @Test func `Canceling an iteration ends only the iteration`() async throws {
        let task = pipeline.imageTask(for: request)
        await origin.fetches.reaches(1)
        let listening = Task { for await _ in task.progress {} }
        listening.cancel()
        await listening.value
        origin.finish()
        #expect(try await task.value.body.readableBytes > 0)
    }

    @Test func `Tasks that share a download survive the cancellation of one`() async throws {
        let first = pipeline.imageTask(for: request)
        await origin.fetches.reaches(1)
        let second = pipeline.imageTask(for: request)
        #expect(pipeline.resolver.fetcher.fetches.waiterCount == 2)
        first.cancel()
        await #expect(throws: PipelineError.cancelled) { try await first.value }
        await origin.send(upTo: 10)
        var events = second.progress.makeAsyncIterator()
        #expect(try progress(await events.next()).receivedBytes == 10)
        origin.finish()
        #expect(try await second.value.body.readableBytes > 0)
    }

    @Test func `Releasing a pipeline ends its threads`() async throws {
        var pipeline: ImagePipeline? = ImagePipeline(memoryBytes: 0)
        weak let queue = pipeline?.resolver.producer.pixels.queue
        #expect(queue != nil)
        pipeline = nil
        await until { queue == nil }
    }
}
