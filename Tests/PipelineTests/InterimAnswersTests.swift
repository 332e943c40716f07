import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import DarkroomWaiting
import Foundation
import HTTPTypes
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// When an answer in a quicker format is given, and when it is final.
@Suite(.timeLimit(.minutes(5)))
struct InterimAnswersTests {
    private func bench(
        _ control: String = "max-age=60", budget: Duration = .nanoseconds(1), memoryBytes: Int = 1 << 20
    ) throws -> Bench {
        try Bench(.control(control, etag: "a"), memoryBytes: memoryBytes, encodingBudget: budget)
    }

    private func request(
        _ bench: Bench, width: Int = 20, mode: CacheMode = .default, waits: Bool = false
    ) throws -> ImageRequest {
        var request = try bench.request(width: width, mode: mode)
        request.output = OutputOptions(format: .avif, alternative: .natural)
        request.interim = waits ? nil : OutputOptions(format: .webp)
        return request
    }

    private func count(_ bench: Bench, _ format: OutputFormat) -> Int {
        bench.processing.jobs.count { $0.output.format == format }
    }

    private func made(_ bench: Bench) -> Int? {
        bench.pipeline.formatUpgrades.outcomes.first { $0.result == "made" }?.count
    }

    /// A bench whose caches have WebP, but neither AVIF nor the original.
    private func benchWithWebP(_ control: String = "max-age=60") async throws -> Bench {
        let bench = try bench(control, budget: .seconds(60))
        var webP = try request(bench, waits: true)
        webP.output = OutputOptions(format: .webp)
        webP.cache.store = .variants
        _ = try await bench.pipeline.image(for: webP)
        await bench.settle()
        return bench
    }

    // MARK: Final answers

    @Test func `Where the preferred format may not be stored, the quicker one is final`() async throws {
        let bench = try bench()
        for store in [TierSelection.none, .originals] {
            var unstored = try request(bench)
            unstored.cache.store = store
            let image = try await bench.pipeline.image(for: unstored)
            #expect(image.format == .webp && !image.isInterim)
        }
        for control in ["no-store", "private, max-age=60"] {
            bench.origin.answer(.picture(try Pictures.green.get(), .control(control)))
            let image = try await bench.pipeline.image(for: request(bench, width: 10, mode: .reload))
            #expect(image.format == .webp && !image.isInterim)
        }
        await bench.pipeline.resolver.upgrades.jobs.drain()
        #expect(count(bench, .avif) == 0)
        #expect(bench.pipeline.formatUpgrades.interimAnswers == 0)
    }

    @Test func `Without a tier for images, the quicker format is final`() async throws {
        let processing = CountingProcessor()
        let pipeline = ImagePipeline(
            configuration: PipelineConfiguration(encodingBudget: .nanoseconds(1)),
            origin: FakeOrigin(try Pictures.png(), .control("max-age=60")), memory: MemoryStore(budgetBytes: 0),
            processing: processing)
        for _ in 0..<2 {
            let image = try await pipeline.image(for: request(try bench()))
            #expect(image.format == .webp && !image.isInterim)
        }
        await pipeline.resolver.upgrades.jobs.drain()
        #expect(processing.jobs.allSatisfy { $0.output.format == .webp })
    }

    @Test func `An image that is too large for all tiers is not made for each request`() async throws {
        let processing = CountingProcessor()
        // There is room for records, but for no image.
        let memory = MemoryStore(budgetBytes: MemoryStore.entryOverheadBytes)
        let pipeline = ImagePipeline(
            configuration: PipelineConfiguration(encodingBudget: .nanoseconds(1)),
            origin: FakeOrigin(try Pictures.png(), .control("max-age=60")), memory: memory, processing: processing)
        for _ in 0..<3 {
            #expect(try await pipeline.image(for: request(try bench())).isInterim)
            await pipeline.resolver.upgrades.jobs.drain()
        }
        #expect(processing.jobs.count { $0.output.format == .avif } == 1)
        #expect(pipeline.formatUpgrades.outcomes.map(\.count) == [0, 0, 1])
    }

    @Test func `A quicker format must be quicker`() async throws {
        let bench = try bench()
        var request = try request(bench)
        request.interim = OutputOptions(format: .gif)
        let image = try await bench.pipeline.image(for: request)
        #expect(image.format == .avif && !image.isInterim)
        #expect(count(bench, .gif) == 0)
    }

    @Test func `While clients wait, only a format that is usually quicker replaces the preferred one`() throws {
        let bench = try bench()
        let resolver = bench.pipeline.resolver
        var request = try request(bench)
        #expect(resolver.hasQuickerInterim(bench.pipeline.resolve(request)))
        request.output = OutputOptions(format: .jxl, alternative: .webp)
        #expect(!resolver.hasQuickerInterim(bench.pipeline.resolve(request)))
        // The source decides the format.
        request.interim = OutputOptions()
        #expect(resolver.hasQuickerInterim(bench.pipeline.resolve(request)))
    }

    // MARK: Marks

    @Test func `An image with a mark is answered in the quicker format too`() async throws {
        let bench = try Bench.withMark(encodingBudget: .nanoseconds(1))
        var request = try bench.markedRequest()
        request.output = OutputOptions(format: .avif, alternative: .natural)
        request.interim = OutputOptions(format: .webp)
        let first = try await bench.pipeline.image(for: request)
        #expect(first.format == .webp && first.isInterim)
        await bench.pipeline.resolver.upgrades.jobs.drain()
        let second = try await bench.pipeline.image(for: request)
        #expect(second.format == .avif && !second.isInterim && second.cache.variant == .memory)
    }

    // MARK: Without the original

    @Test func `A quicker format that is cached is the answer where the preferred one cannot be made`() async throws {
        let bench = try await benchWithWebP()
        let cached = try request(bench, mode: .onlyIfCached)
        #expect(try await bench.pipeline.explain(cached).format == .webp)
        let image = try await bench.pipeline.image(for: cached)
        #expect(image.isInterim && image.cache.variant == .memory && image.cache.forwarded == nil)
        #expect(count(bench, .avif) == 0)
        let next = try await bench.pipeline.image(for: request(bench))
        #expect(next.format == .webp && next.isInterim && next.cache.forwarded == nil)
        await bench.pipeline.resolver.upgrades.jobs.drain()
        #expect(try await bench.pipeline.image(for: request(bench)).format == .avif)
    }

    @Test func `A stale image in the quicker format is better than a failure`() async throws {
        let bench = try await benchWithWebP("max-age=60, stale-if-error=600")
        bench.wall.advance(seconds: 61)
        bench.origin.answer(.status(500))
        let image = try await bench.pipeline.image(for: request(bench))
        #expect(image.format == .webp && image.cache.staleBecause != nil)
    }

    @Test func `With the original at hand, a quick encode replaces what is cached in the other format`() async throws {
        let bench = try bench(budget: .seconds(60))
        var webP = try request(bench, waits: true)
        webP.output = OutputOptions(format: .webp)
        _ = try await bench.pipeline.image(for: webP)
        #expect(try await bench.pipeline.image(for: request(bench)).format == .avif)
    }

    // MARK: Revalidation

    @Test func `Revalidation in the background makes the preferred format within the same bounds`() async throws {
        let bench = try bench("max-age=60, stale-while-revalidate=600")
        _ = try await bench.pipeline.image(for: request(bench, waits: true))
        bench.wall.advance(seconds: 61)
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=60", etag: "b")))
        let stale = try await bench.pipeline.image(for: request(bench))
        #expect(stale.format == .avif && !stale.isInterim)
        await bench.pipeline.resolver.background.drain()
        #expect(count(bench, .webp) == 1)
        await bench.pipeline.resolver.upgrades.jobs.drain()
        #expect(made(bench) == 1 && bench.pipeline.formatUpgrades.interimAnswers == 0)
        let fresh = try await bench.pipeline.image(for: request(bench))
        #expect(fresh.format == .avif && fresh.digest != stale.digest && fresh.cache.variant == .memory)
    }
}
