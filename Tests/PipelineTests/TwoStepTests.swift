import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import DarkroomWaiting
import NIOCore
import Synchronization
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Answers in a quicker format, with the preferred one made behind them.
@Suite(.timeLimit(.minutes(5)))
struct TwoStepTests {
    /// A bench for which every AVIF takes too long.
    private func bench(budget: Duration = .nanoseconds(1), memoryBytes: Int = 1 << 20) throws -> Bench {
        try Bench(.control("max-age=60", etag: "a"), memoryBytes: memoryBytes, encodingBudget: budget)
    }

    private func request(_ bench: Bench, width: Int = 20, waits: Bool = false) throws -> ImageRequest {
        var request = try bench.request(width: width)
        request.output = OutputOptions(format: .avif, alternative: .natural)
        request.interim = waits ? nil : OutputOptions(format: .webp)
        return request
    }

    private func outcomes(_ bench: Bench) -> [String: Int] {
        let counts = bench.pipeline.formatUpgrades.outcomes.map { ($0.result, $0.count) }
        return Dictionary(uniqueKeysWithValues: counts).filter { $0.value > 0 }
    }

    private func jobs(_ bench: Bench, _ format: OutputFormat) -> Int {
        bench.processing.jobs.count { $0.output.format == format }
    }

    @Test func `A preferred format that takes too long is answered in a quicker one first`() async throws {
        let bench = try bench()
        let first = try await bench.pipeline.image(for: request(bench))
        #expect(first.format == .webp && first.isInterim)
        await bench.pipeline.resolver.upgrades.jobs.drain()
        let second = try await bench.pipeline.image(for: request(bench))
        #expect(second.format == .avif && !second.isInterim && second.cache.variant == .memory)
        #expect(second.digest != first.digest)
        #expect(outcomes(bench) == ["made": 1])
        #expect(bench.pipeline.formatUpgrades.interimAnswers == 1)
        #expect(bench.origin.fetches.value == 1)
    }

    @Test(arguments: [Duration.zero, .seconds(60)])
    func `Without a budget, or within it, the preferred format is waited for`(budget: Duration) async throws {
        let bench = try bench(budget: budget)
        let image = try await bench.pipeline.image(for: request(bench))
        #expect(image.format == .avif && !image.isInterim)
        #expect(jobs(bench, .webp) == 0)
    }

    /// Limits that no effort of AVIF keeps at 800 by 800 pixels. WebP takes half of that time.
    private func tooShortForAVIF() throws -> PixelLimits {
        var recipe = Recipe()
        (recipe.box, recipe.enlarge) = (Box(width: 800, height: 800), true)
        // After a step that may draw, nothing is known of the detail: AVIF is estimated to take longest.
        recipe.filter = .sepia
        let job = ImageJob(
            source: try Pictures.red.get(), chain: TransformChain(recipe), output: OutputOptions(format: .avif),
            efforts: EncoderEfforts(avif: 0))
        let fastest = try InProcessImageProcessor().plan(job).expectedWork
        return PixelLimits(maxProcessingMilliseconds: Int(fastest) - 1)
    }

    @Test func `A preferred format that takes longer than any image may is left for the quicker one`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"), limits: tooShortForAVIF())
        var request = try request(bench, width: 800)
        request.recipe.box = Box(width: 800, height: 800)
        request.recipe.enlarge = true
        request.recipe.filter = .sepia
        request.output = OutputOptions(format: .avif)
        #expect(try await bench.pipeline.image(for: request).format == .webp)
        request.interim = nil
        await #expect(throws: PipelineError.self) { try await bench.pipeline.image(for: request) }
    }

    @Test func `A negotiated format that no effort makes in time is replaced for good`() async throws {
        let bench = try Bench(.control("max-age=60", etag: "a"), limits: tooShortForAVIF())
        var request = try request(bench, width: 800)
        request.recipe.box = Box(width: 800, height: 800)
        request.recipe.enlarge = true
        request.recipe.filter = .sepia
        request.output = OutputOptions(format: .avif, alternative: .webp)
        let explained = try await bench.pipeline.explain(request, fetch: true)
        #expect(explained.format == .webp && explained.upgrade == nil)
        for _ in 0..<2 {
            let image = try await bench.pipeline.image(for: request)
            #expect(image.format == .webp && !image.isInterim)
        }
        #expect(jobs(bench, .avif) == 1 && bench.pipeline.formatUpgrades.interimAnswers == 0)
    }

    @Test func `A drawing keeps the quicker format for good, and is compared once`() async throws {
        let bench = try bench()
        var request = try request(bench)
        request.output = OutputOptions(format: .avif, alternative: .webp)
        let first = try await bench.pipeline.image(for: request)
        #expect(first.format == .webp && first.isInterim)
        await bench.pipeline.resolver.upgrades.jobs.drain()
        for _ in 0..<2 {
            let image = try await bench.pipeline.image(for: request)
            #expect(image.format == .webp && !image.isInterim && image.digest == first.digest)
            #expect(image.cache.variant == .memory)
        }
        #expect(jobs(bench, .avif) == 1 && outcomes(bench) == ["made": 1])
        #expect(bench.processing.jobs.last?.webPBytes == first.body.readableBytes)
        let explained = try await bench.pipeline.explain(request)
        #expect(explained.format == .webp && explained.outdoneFormat == .avif && explained.upgrade == nil)
        // A client without WebP has another key.
        var onlyAVIF = try self.request(bench, waits: true)
        onlyAVIF.output = OutputOptions(format: .avif, alternative: .natural)
        #expect(try await bench.pipeline.image(for: onlyAVIF).format == .avif)
        let other = try await bench.pipeline.explain(onlyAVIF)
        #expect(other.format == .avif && other.outdoneFormat == nil && other.keys.variant != explained.keys.variant)
        #expect(try await bench.pipeline.image(for: request).format == .webp)
    }

    @Test func `However many requests come, each format is made once`() async throws {
        let bench = try bench()
        let release = bench.processing.hold(.avif)
        let requests = try (0..<20).map { _ in try request(bench) }
        let images = try await withThrowingTaskGroup(of: ImageResponse.self) { group in
            for request in requests { group.addTask { try await bench.pipeline.image(for: request) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(images.allSatisfy { $0.format == .webp && $0.isInterim })
        let late = try await bench.pipeline.image(for: requests[0])
        #expect(late.format == .webp && late.isInterim && late.cache.variant == .memory)
        release()
        await bench.pipeline.resolver.upgrades.jobs.drain()
        #expect(jobs(bench, .avif) == 1 && jobs(bench, .webp) == 1)
        #expect(bench.pipeline.formatUpgrades.interimAnswers == 21)
    }

    @Test func `A request that waits for the best format shares the work that an earlier request left behind`()
        async throws
    {
        let bench = try bench()
        let release = bench.processing.hold(.avif)
        let first = try await bench.pipeline.image(for: request(bench))
        await bench.processing.begins(.avif)
        let waiting = try request(bench, waits: true)
        let best = Task.immediate { try await bench.pipeline.image(for: waiting) }
        #expect(bench.pipeline.resolver.producer.productions.waiterCount == 2)
        release()
        #expect(first.format == .webp)
        #expect(try await best.value.format == .avif)
        await bench.pipeline.resolver.upgrades.jobs.drain()
        #expect(jobs(bench, .avif) == 1)
    }

    @Test func `A purge in between keeps the late image out of the caches`() async throws {
        let bench = try bench()
        let release = bench.processing.hold(.avif)
        let request = try request(bench)
        _ = try await bench.pipeline.image(for: request)
        await bench.processing.begins(.avif)
        await bench.pipeline.purge(.source(.example))
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        release()
        await bench.pipeline.resolver.upgrades.jobs.drain()
        #expect(await bench.pipeline.location(of: request).variant.isEmpty)
        let next = try await bench.pipeline.image(for: request)
        #expect(next.format == .webp && next.isInterim)
        await bench.pipeline.resolver.upgrades.jobs.drain()
        #expect(try await bench.pipeline.image(for: request).format == .avif)
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `The preferred format on disk is the answer`() async throws {
        let bench = try bench(memoryBytes: 0)
        _ = try await bench.pipeline.image(for: request(bench, waits: true))
        await bench.settle()
        let image = try await bench.pipeline.image(for: request(bench))
        #expect(image.format == .avif && image.cache.variant == .disk && !image.isInterim)
        #expect(jobs(bench, .webp) == 0)
    }

    @Test func `A quicker format that is stored is the answer, without its original`() async throws {
        let bench = try bench()
        var webP = try request(bench, waits: true)
        webP.output = OutputOptions(format: .webp)
        webP.cache.store = .variants
        _ = try await bench.pipeline.image(for: webP)
        await bench.settle()
        let image = try await bench.pipeline.image(for: request(bench))
        #expect(image.isInterim && image.cache.variant == .memory && image.cache.forwarded == nil)
        await bench.pipeline.resolver.upgrades.jobs.drain()
        #expect(try await bench.pipeline.image(for: request(bench)).format == .avif)
    }

    @Test(arguments: [Priority.normal, .background])
    func `While clients wait for a thread, the quicker format is made without an estimate`(
        priority: Priority
    ) async throws {
        let processing = CountingProcessor()
        let pipeline = ImagePipeline(
            configuration: PipelineConfiguration(pixelWorkers: 1, encodingBudget: .seconds(60)),
            origin: FakeOrigin(try Pictures.png(), .control("max-age=60")), memory: MemoryStore(budgetBytes: 1 << 20),
            processing: processing)
        let bench = try bench()
        let release = processing.hold(.png)
        var slow = try bench.request("http://example.com/1.png")
        slow.output = OutputOptions(format: .png)
        let first = Task { [slow] in try await pipeline.image(for: slow) }
        await processing.runs.reaches(1)
        var second = slow
        second.recipe.box.width = 30
        second.priority = priority
        let waiting = Task.immediate { [second] in try await pipeline.image(for: second) }
        #expect(pipeline.load.waitingCount == 1)
        let request = try request(bench)
        let busy = Task.immediate { try await pipeline.image(for: request) }
        #expect(pipeline.load.waitingCount == 2)
        release()
        #expect(try await busy.value.isInterim == (priority != .background))
        _ = try await (first.value, waiting.value)
        await pipeline.resolver.upgrades.jobs.drain()
        #expect(try await pipeline.image(for: request).format == .avif)
    }

    // MARK: Explanation

    @Test func `An explanation names the answer's format, and the one under way`() async throws {
        let bench = try bench()
        let request = try request(bench)
        let before = try await bench.pipeline.explain(request, fetch: true)
        #expect(before.format == .webp)
        #expect(before.upgrade?.format == .avif && before.upgrade?.isUnderWay == false)
        let release = bench.processing.hold(.avif)
        _ = try await bench.pipeline.image(for: request)
        let during = try await bench.pipeline.explain(request)
        #expect(during.format == .webp && during.upgrade?.isUnderWay == true)
        #expect(try #require(during.upgrade?.encodingTime) > .zero)
        release()
        await bench.pipeline.resolver.upgrades.jobs.drain()
        let after = try await bench.pipeline.explain(request)
        #expect(after.format == .avif && after.upgrade == nil)
    }
}
