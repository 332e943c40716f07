import DarkroomLoading
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import DarkroomWaiting
import NIOCore
import Testing

@testable import DarkroomPipeline

/// Previews during a download.
@Suite(.timeLimit(.minutes(5)))
struct PreviewTests {
    /// A request has minutes, since previews are made on threads of low priority.
    private static let configuration = PipelineConfiguration(requestTimeout: .seconds(240))
    private let origin: PiecewiseOrigin
    private let memory = MemoryStore(budgetBytes: 1 << 20)
    private let disk = MemoryDisk()
    private let processing = CountingProcessor()
    private let pipeline: ImagePipeline
    private let request: ImageRequest

    init() throws {
        origin = PiecewiseOrigin(try Pictures.noisyJPEG.get())
        pipeline = ImagePipeline(
            configuration: Self.configuration, origin: origin, memory: memory, disk: disk, processing: processing)
        request = try ImageRequest(url: "http://example.com/a.jpg", width: 90)
    }

    private var isNothingKept: Bool { memory.statistics.entries == 0 && disk.count == 0 }

    private func preview(_ events: inout ImageEvents) async throws -> ImagePreview {
        while let event = await events.next() {
            if case .preview(let preview) = event { return preview }
        }
        throw PipelineError.failed
    }

    @Test func `A JPEG gets a preview each time the bytes received double`() async throws {
        let task = pipeline.imageTask(for: request, previews: true)
        var events = task.events.makeAsyncIterator()
        for kilobytes in [16, 32, 70] {
            await origin.send(upTo: kilobytes << 10)
            let preview = try await preview(&events)
            #expect(preview.receivedBytes == kilobytes << 10)
            #expect(preview.format == .jpeg)
            #expect(preview.size == PixelSize(width: 90, height: 60))
            #expect(preview.data.count == preview.body.readableBytes)
            #expect(isNothingKept)
        }
        // The bytes have not doubled.
        await origin.send(upTo: 90 << 10)
        origin.finish()
        for await event in task.events {
            if case .preview = event { Issue.record("a preview too many") }
        }
        #expect(processing.jobs.map(\.isPartial) == [true, true, true, false])
        #expect(processing.jobs.prefix(3).allSatisfy { $0.identity == nil })
        #expect(try await task.value.digest == whole().digest)
    }

    /// The image as a pipeline without previews makes it.
    private func whole() async throws -> ImageResponse {
        let origin = FakeOrigin(try Pictures.noisyJPEG.get())
        return try await ImagePipeline(origin: origin, memory: MemoryStore(budgetBytes: 0)).image(for: request)
    }

    @Test func `Nothing of an aborted download is stored or served`() async throws {
        let task = pipeline.imageTask(for: request, previews: true)
        var events = task.events.makeAsyncIterator()
        await origin.send(upTo: 64 << 10)
        _ = try await preview(&events)
        origin.fail(.unreachable(.incomplete))
        await #expect(throws: PipelineError.self) { try await task.value }
        #expect(isNothingKept)
        #expect(await pipeline.location(of: request) == CacheLocation())
    }

    @Test func `Without a request for previews there are none`() async throws {
        let task = pipeline.imageTask(for: request)
        await origin.send(upTo: 64 << 10)
        origin.finish()
        _ = try await task.value
        #expect(processing.jobs.map(\.isPartial) == [false])
    }

    @Test(arguments: [OutputFormat.json, .blurHash, .lqip])
    func `Text formats have no previews`(format: OutputFormat) async throws {
        var request = request
        request.output = OutputOptions(format: format)
        let task = pipeline.imageTask(for: request, previews: true)
        await origin.send(upTo: 64 << 10)
        origin.finish()
        _ = try await task.value
        #expect(processing.jobs.map(\.isPartial) == [false])
    }

    @Test func `Other formats have no previews`() async throws {
        let origin = PiecewiseOrigin(try Pictures.noise(width: 200, height: 100))
        let pipeline = ImagePipeline(
            configuration: Self.configuration, origin: origin, memory: memory, processing: processing)
        let task = pipeline.imageTask(for: request, previews: true)
        await origin.send(upTo: 32 << 10)
        origin.finish()
        _ = try await task.value
        #expect(processing.jobs.map(\.isPartial) == [false])
    }

    @Test func `Equal previews are made once`() async throws {
        let tasks = (0..<3).map { _ in pipeline.imageTask(for: request, previews: true) }
        #expect(pipeline.resolver.fetcher.fetches.waiterCount == 3)
        let goOn = processing.holdNext()
        await origin.send(upTo: 20 << 10)
        await until { pipeline.resolver.fetcher.previewMaker.previews.waiterCount == 3 }
        goOn()
        for task in tasks {
            var events = task.events.makeAsyncIterator()
            #expect(try await preview(&events).receivedBytes == 20 << 10)
        }
        #expect(processing.runs.value == 1)
    }

    @Test func `A late preview is not shown and delays nothing`() async throws {
        let task = pipeline.imageTask(for: request, previews: true)
        await origin.fetches.reaches(1)
        let goOn = processing.holdNext()
        await origin.send(upTo: 20 << 10)
        await processing.runs.reaches(1)
        origin.finish()
        _ = try await task.value
        goOn()
        for await event in task.events {
            if case .preview = event { Issue.record("a preview after the picture") }
        }
    }

    @Test func `A preview waits for all requests`() async throws {
        let pipeline = ImagePipeline(
            configuration: PipelineConfiguration(pixelWorkers: 1, requestTimeout: .seconds(240)), origin: origin,
            memory: memory, processing: processing, now: { WallClock.start })
        var (other, narrower) = (request, request)
        other.source = .example
        narrower.source = .example
        narrower.recipe.box.width = 50
        let goOn = processing.holdNext()
        async let first = pipeline.image(for: other)
        origin.finish()
        await processing.runs.reaches(1)
        let task = pipeline.imageTask(for: request, previews: true)
        await origin.send(upTo: 20 << 10)
        await until { pipeline.load.waitingCount == 1 }
        let second = Task.immediate { [narrower] in try await pipeline.image(for: narrower) }
        #expect(pipeline.load.waitingCount == 2)
        goOn()
        var events = task.events.makeAsyncIterator()
        _ = try await (first, second.value, preview(&events))
        #expect(processing.jobs.map(\.isPartial) == [false, false, true])
    }

    @Test func `Previews are made one at a time`() async throws {
        let task = pipeline.imageTask(for: request, previews: true)
        await origin.fetches.reaches(1)
        let goOn = processing.holdNext()
        await origin.send(upTo: 20 << 10)
        await processing.runs.reaches(1)
        await origin.send(upTo: 80 << 10)
        goOn()
        var events = task.events.makeAsyncIterator()
        #expect(try await preview(&events).receivedBytes == 20 << 10)
        // The skipped preview is made with the next piece.
        await origin.send(upTo: 81 << 10)
        #expect(try await preview(&events).receivedBytes == 81 << 10)
        #expect(processing.runs.value == 2)
    }

    @Test func `Too few bytes make no preview, and a preview that fails is skipped`()
        async throws
    {
        let comment = Array(repeating: UInt8(ascii: "x"), count: 40_000)
        var padded = ByteBuffer(bytes: [0xFF, 0xD8, 0xFF, 0xFE, 0x9C, 0x42] + comment)
        padded.writeImmutableBuffer(try Pictures.noisyJPEG.get().getSlice(at: 2, length: 90_000) ?? ByteBuffer())
        let origin = PiecewiseOrigin(padded)
        let pipeline = ImagePipeline(
            configuration: Self.configuration, origin: origin, memory: memory, processing: processing)
        let task = pipeline.imageTask(for: request, previews: true)
        await origin.send(upTo: 10_000)
        await origin.send(upTo: 20_000)
        await processing.runs.reaches(1)
        var events = task.events.makeAsyncIterator()
        // The next preview starts only once the first one has failed.
        var bytes = 70_000
        while processing.runs.value == 1 {
            await origin.send(upTo: bytes)
            bytes += 1
            await Task.yield()
        }
        #expect(try await preview(&events).receivedBytes >= 70_000)
    }
}
