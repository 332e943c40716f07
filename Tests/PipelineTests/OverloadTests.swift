import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTestClock
import DarkroomTransforms
import NIOCore
import Testing

@testable import DarkroomPipeline

/// A pipeline under overload.
@Suite(.timeLimit(.minutes(5)))
struct OverloadTests {
    private let processing = CountingProcessor()

    private func pipeline(
        _ origin: FakeOrigin, queueDepth: Int = 1, clock: any Clock<Duration> = ContinuousClock()
    ) -> ImagePipeline {
        ImagePipeline(
            configuration: PipelineConfiguration(pixelWorkers: 1, queueDepth: queueDepth), origin: origin,
            memory: MemoryStore(budgetBytes: 1 << 20), processing: processing, clock: clock)
    }

    private func ask(
        _ pipeline: ImagePipeline, _ number: Int, client: String = "a"
    ) -> Task<PipelineError?, Never> {
        Task.immediate {
            do throws(PipelineError) {
                var request = try ImageRequest(url: "http://example.com/\(number).png", width: 10 + number)
                request.client = client
                _ = try await pipeline.image(for: request)
                return nil
            } catch {
                return error
            }
        }
    }

    @Test func `A request that would be refused is not downloaded`() async throws {
        let origin = FakeOrigin(try Pictures.png())
        let pipeline = pipeline(origin)
        let release = processing.holdNext()
        let running = ask(pipeline, 1)
        await processing.runs.reaches(1)
        let waiting = ask(pipeline, 2)
        #expect(pipeline.load.waitingCount == 1)
        let downloads = origin.fetches.value
        #expect(await ask(pipeline, 3).value == .overloaded(retryAfterSeconds: 1))
        #expect(origin.fetches.value == downloads)
        release()
        #expect(await running.value == nil)
        #expect(await waiting.value == nil)
    }

    @Test func `A client with no waiting job takes the place of one with several`() async throws {
        let origin = FakeOrigin(try Pictures.png())
        let pipeline = pipeline(origin, queueDepth: 2)
        let release = processing.holdNext()
        let running = ask(pipeline, 1, client: "greedy")
        await processing.runs.reaches(1)
        let older = ask(pipeline, 2, client: "greedy")
        #expect(pipeline.load.waitingCount == 1)
        let newer = ask(pipeline, 3, client: "greedy")
        #expect(pipeline.load.waitingCount == 2)
        let polite = ask(pipeline, 4, client: "polite")
        #expect(await newer.value == .overloaded(retryAfterSeconds: 1))
        release()
        #expect(await polite.value == nil)
        #expect(await older.value == nil)
        #expect(await running.value == nil)
        let displaced = try #require(pipeline.load.refusals.first { $0.reason == "displaced" })
        #expect(displaced.count == 1 && displaced.waited > .zero)
        #expect(pipeline.load.refusals.allSatisfy { $0.reason == "displaced" || $0.waited == .zero })
    }

    @Test func `A request that times out in the queue fails as overloaded`() async throws {
        let clock = TestClock()
        let pipeline = pipeline(FakeOrigin(try Pictures.png()), clock: clock)
        let release = processing.holdNext()
        let running = ask(pipeline, 1)
        await processing.runs.reaches(1)
        let waiting = ask(pipeline, 2)
        #expect(pipeline.load.waitingCount == 1)
        await clock.passSleep()
        #expect(await waiting.value == .overloaded(retryAfterSeconds: 1))
        #expect(pipeline.load.waitingCount == 0)
        release()
        #expect(await running.value == .timedOut)
        #expect(processing.runs.value == 1)
    }

    @Test(arguments: [(["a"], "a"), ([""], nil), (["a", "b"], nil)])
    func `A long job names its client, if it is the only one`(clients: [String], expected: String?) async throws {
        let drawing = "<svg xmlns='http://www.w3.org/2000/svg' width='20' height='20'><circle r='9'/></svg>"
        let pipeline = pipeline(FakeOrigin(ByteBuffer(string: drawing)))
        let release = processing.holdNext()
        let earlier = ask(pipeline, 1)
        await processing.runs.reaches(1)
        let waiting = clients.map { ask(pipeline, 2, client: $0) }
        release()
        #expect(await earlier.value == nil)
        for task in waiting { #expect(await task.value == nil) }
        #expect(processing.jobs.count == 2 && processing.jobs.last?.client == expected)
    }
}
