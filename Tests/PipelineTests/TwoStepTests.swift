import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import NIOCore
import Synchronization
import Testing

@testable import DarkroomPipeline

/// Answers in a quicker format, with the preferred one made behind them.
@Suite(.timeLimit(.minutes(1)))
struct TwoStepTests {
    /// A bench for which every AVIF takes too long.
    private func bench(budget: Duration = .nanoseconds(1), memoryBytes: Int = 1 << 20) throws -> Bench {
        try Bench(.control("max-age=60", etag: "a"), memoryBytes: memoryBytes, encodingBudget: budget)
    }

    private func request(_ bench: Bench, width: Int = 20, waits: Bool = false) throws -> ImageRequest {
        var request = try bench.request(width: width)
        request.output = OutputOptions(format: .avif, animation: .webp)
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
        await bench.pipeline.resolver.upgrades.drain()
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
        await bench.pipeline.resolver.upgrades.drain()
        #expect(jobs(bench, .avif) == 1 && jobs(bench, .webp) == 1)
        #expect(bench.pipeline.formatUpgrades.interimAnswers == 21)
    }

    @Test func `A request that waits for the best format shares the work of those that did not`() async throws {
        let bench = try bench()
        let release = bench.processing.hold(.avif)
        let first = try await bench.pipeline.image(for: request(bench))
        let waiting = try request(bench, waits: true)
        let best = Task { try await bench.pipeline.image(for: waiting) }
        await until { bench.pipeline.resolver.producer.productions.waiterCount == 2 }
        release()
        #expect(first.format == .webp)
        #expect(try await best.value.format == .avif)
        await bench.pipeline.resolver.upgrades.drain()
        #expect(jobs(bench, .avif) == 1)
    }

    @Test func `A purge in between keeps the late image out of the caches`() async throws {
        let bench = try bench()
        let release = bench.processing.hold(.avif)
        let request = try request(bench)
        _ = try await bench.pipeline.image(for: request)
        await until { jobs(bench, .avif) == 1 }
        await bench.pipeline.purge(.source(.example))
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        release()
        await bench.pipeline.resolver.upgrades.drain()
        #expect(await bench.pipeline.location(of: request).variant.isEmpty)
        let next = try await bench.pipeline.image(for: request)
        #expect(next.format == .webp && next.isInterim)
        await bench.pipeline.resolver.upgrades.drain()
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
        await bench.pipeline.resolver.upgrades.drain()
        #expect(try await bench.pipeline.image(for: request(bench)).format == .avif)
    }

    @Test func `What may not be stored is not made behind an answer`() async throws {
        let bench = try bench()
        var unstored = try request(bench)
        unstored.cache.store = .none
        #expect(try await bench.pipeline.image(for: unstored).isInterim)
        bench.origin.answer(.picture(try Pictures.green.get(), .control("no-store")))
        #expect(try await bench.pipeline.image(for: request(bench, width: 10)).isInterim)
        await bench.pipeline.resolver.upgrades.drain()
        #expect(outcomes(bench).isEmpty && jobs(bench, .avif) == 0)
    }

    @Test func `While images wait for a thread, the quicker format is made without an estimate`() async throws {
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
        let waiting = Task { [second] in try await pipeline.image(for: second) }
        await until { pipeline.load.waitingCount == 1 }
        let request = try request(bench)
        let busy = Task { try await pipeline.image(for: request) }
        await until { pipeline.load.waitingCount == 2 }
        release()
        #expect(try await busy.value.isInterim)
        _ = try await (first.value, waiting.value)
        await pipeline.resolver.upgrades.drain()
        #expect(try await pipeline.image(for: request).format == .avif)
    }

    @Test func `A preferred format that cannot be made is not tried again for a while`() async throws {
        let bench = try bench()
        let request = try request(bench)
        _ = try await bench.pipeline.image(for: request)
        await bench.pipeline.resolver.upgrades.drain()
        let key = bench.pipeline.resolve(request).upgradeKey
        let now = Mutex(ContinuousClock.now)
        let upgrades = upgrades(now: { now.withLock(\.self) })
        upgrades.start(key, holding: 0) { () async throws(PipelineError) in throw .failed }
        await upgrades.drain()
        #expect(upgrades.isPending(key) && !upgrades.isUnderWay(key))
        let runs = Counter()
        upgrades.start(key, holding: 0) { () async throws(PipelineError) in _ = runs.add() }
        await upgrades.drain()
        #expect(runs.value == 0)
        now.withLock { $0 += FormatUpgrades.restAfterFailure }
        #expect(!upgrades.isPending(key))
        upgrades.start(key, holding: 0) { () async throws(PipelineError) in _ = runs.add() }
        await upgrades.drain()
        #expect(runs.value == 1)
        #expect(upgrades.statistics.outcomes.map(\.count) == [1, 0, 1])
    }

    // MARK: Bounds

    private func upgrades(
        concurrency: Int = 1, maxHeldBytes: Int = 100, isOverloaded: @escaping @Sendable () -> Bool = { false },
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) -> FormatUpgrades {
        FormatUpgrades(
            concurrency: concurrency, maxHeldBytes: maxHeldBytes,
            deadlines: DeadlineTimer(.seconds(60), clock: ContinuousClock()), isOverloaded: isOverloaded, now: now)
    }

    private func key(_ number: Int) -> FormatUpgrades.Key {
        let source = RequestKeys.source("\(number)")
        return FormatUpgrades.Key(
            variant: RequestKeys.original(of: source), epoch: PurgeEpochs().current(of: source))
    }

    @Test func `Jobs beyond the queue, or the bytes that may be held, are dropped`() async {
        let gate = Gate()
        let upgrades = upgrades()
        let runs = Counter()
        func start(_ number: Int, holding bytes: Int = 0) {
            upgrades.start(key(number), holding: bytes) { () async throws(PipelineError) in
                await gate.pass()
                runs.add()
            }
        }
        start(0, holding: 60)
        start(1_000, holding: 41)
        #expect(upgrades.statistics.outcomes.map(\.count) == [0, 1, 0])
        for number in 1...(FormatUpgrades.capacity + 3) { start(number) }
        let before = upgrades.statistics
        #expect(before.running == 1 && before.waiting == FormatUpgrades.capacity)
        gate.open()
        await upgrades.drain()
        #expect(runs.value == FormatUpgrades.capacity + 1)
        #expect(upgrades.statistics.outcomes.map(\.count) == [FormatUpgrades.capacity + 1, 4, 0])
    }

    @Test func `Under overload nothing is started, and refused work counts as dropped`() async {
        let isOverloaded = Mutex(true)
        let now = Mutex(ContinuousClock.now)
        let upgrades = upgrades(isOverloaded: { isOverloaded.withLock(\.self) }, now: { now.withLock(\.self) })
        let runs = Counter()
        upgrades.start(key(1), holding: 0) { () async throws(PipelineError) in _ = runs.add() }
        #expect(upgrades.isPending(key(1)) && runs.value == 0)
        isOverloaded.withLock { $0 = false }
        now.withLock { $0 += FormatUpgrades.restAfterDrop }
        upgrades.start(key(1), holding: 0) { () async throws(PipelineError) in
            runs.add()
            throw .overloaded(retryAfterSeconds: 1)
        }
        await upgrades.drain()
        #expect(runs.value == 1)
        #expect(upgrades.statistics.outcomes.map(\.count) == [0, 2, 0])
    }

    @Test func `After a shutdown nothing is started`() async {
        let upgrades = upgrades()
        upgrades.shutdown()
        upgrades.start(key(1), holding: 0) { () async throws(PipelineError) in Issue.record("It runs.") }
        await upgrades.drain()
        #expect(upgrades.statistics.running == 0)
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
        await bench.pipeline.resolver.upgrades.drain()
        let after = try await bench.pipeline.explain(request)
        #expect(after.format == .avif && after.upgrade == nil)
    }

    @Test func `The estimate of an encoder's speed follows what was observed, within bounds`() {
        let speed = EncodingSpeed()
        let output = OutputOptions(format: .avif)
        let size = PixelSize(width: 1_000, height: 1_000)
        let before = speed.duration(of: size, as: output)
        func observe(_ duration: Duration, side: Int = 1_000) {
            speed.record(
                ProcessedImage(
                    body: ByteBuffer(), format: .avif, size: PixelSize(width: side, height: side), frames: 1,
                    sourceFormat: .jpeg, stages: ProcessingStages(encode: duration)), as: output)
        }
        observe(.seconds(1), side: 10)
        #expect(speed.duration(of: size, as: output) == before)
        for _ in 0..<200 { observe(before * 3) }
        #expect(abs(speed.duration(of: size, as: output) / before - 3) < 0.1)
        for _ in 0..<500 { observe(.seconds(3_600)) }
        #expect(speed.duration(of: size, as: output) <= before * 20.1)
        #expect(speed.duration(of: size, as: OutputOptions(format: .webp)) < before)
        #expect(speed.duration(of: size, as: OutputOptions()) == .zero)
    }
}
