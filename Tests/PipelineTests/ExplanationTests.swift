import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Explanations of requests, and that they have no side effects.
@Suite(.timeLimit(.minutes(5)))
struct ExplanationTests {
    private static let both: TierSet = [.memory, .disk]

    private func explain(
        _ bench: Bench, width: Int = 20, mode: CacheMode = .default, directives: HTTPFields = [:], fetch: Bool = false
    ) async throws -> Explanation {
        try await bench.pipeline.explain(
            bench.request(width: width, mode: mode, directives: directives), fetch: fetch)
    }

    private func tiers(_ explanation: Explanation) -> [TierSet] { explanation.caches.map(\.tiers) }

    private func plan(_ explanation: Explanation) -> ImagePlan? {
        if case .planned(let plan) = explanation.plan { plan } else { nil }
    }

    @Test func `An unknown source has keys and no plan, and the origin is not contacted`() async throws {
        let bench = try Bench()
        let explanation = try await explain(bench)
        #expect(explanation.source == "http://example.com/a.png")
        #expect(explanation.keys.filter == "CanonicalURLFilter")
        #expect(explanation.keys.identity == "http://example.com/a.png")
        #expect(explanation.keys.source == RequestKeys.source("http://example.com/a.png").hex)
        #expect(explanation.keys.encoderEpoch == EncoderEpoch.current)
        #expect(explanation.caches.map(\.kind) == [.record, .original, .variant])
        #expect(tiers(explanation) == [[], [], []])
        #expect(explanation.freshness.evaluation.reason == .miss)
        #expect(explanation.freshness.age == nil)
        #expect(explanation.plan == .missing("The source is not cached. Set fetch to download it for the plan."))
        #expect(explanation.format == nil)
        #expect(bench.origin.fetches.value == 0)
        #expect(bench.disk.count == 0)
    }

    @Test func `With fetch the source is downloaded for a plan and not stored`() async throws {
        let bench = try Bench()
        let explanation = try await explain(bench, fetch: true)
        #expect(plan(explanation)?.size == PixelSize(width: 20, height: 15))
        #expect(explanation.format == .png)
        #expect(
            explanation.limits.map(\.setting)
                == ["max-source-pixels", "max-output-side", "max-output-pixels", "max-processing-time"])
        #expect(explanation.freshness.evaluation.reason == .miss)
        #expect(bench.origin.fetches.value == 1)
        #expect(bench.disk.count == 0)
        #expect(bench.memory.statistics.entries == 0)
        #expect(bench.processing.runs.value == 0)
        await bench.settle()
        #expect(try await explain(bench).freshness.evaluation.reason == .miss)
    }

    @Test func `Cached entries are listed with their tiers, without a side effect`() async throws {
        let bench = try Bench(.control("max-age=100"))
        try await bench.ask()
        await bench.settle()
        let before = bench.memory.statistics
        bench.wall.advance(seconds: 30)
        let explanation = try await explain(bench)
        #expect(tiers(explanation) == [Self.both, Self.both, Self.both])
        #expect(explanation.freshness.evaluation.decision == .use)
        #expect(explanation.freshness.lifetime == .seconds(100))
        #expect(explanation.freshness.age == .seconds(30))
        #expect(explanation.freshness.remaining == .seconds(70))
        #expect(plan(explanation) != nil)
        #expect(bench.memory.statistics == before)
        #expect(bench.origin.fetches.value == 1)
        let other = try await explain(bench, width: 10)
        #expect(tiers(other) == [Self.both, Self.both, []])
        #expect(other.keys.original == explanation.keys.original)
        #expect(other.keys.variant != explanation.keys.variant)
        bench.memory.removeEverything()
        #expect(tiers(try await explain(bench)) == [Self.both, .disk, .disk])
        #expect(bench.memory.statistics.entries == 0)
    }

    @Test func `An entry made from older content is not used`() async throws {
        let bench = try Bench(.control("max-age=10"))
        try await bench.ask()
        bench.origin.answer(.picture(try Pictures.green.get(), .control("max-age=10")))
        bench.wall.advance(seconds: 11)
        try await bench.ask(width: 10)
        await bench.settle()
        #expect(tiers(try await explain(bench)) == [Self.both, Self.both, []])
        #expect(tiers(try await explain(bench, width: 10)) == [Self.both, Self.both, Self.both])
    }

    @Test(arguments: [
        ("max-age=10", 1, CacheMode.default, CacheEvaluation.Reason.fresh),
        ("max-age=10", 11, .default, .stale), ("max-age=10", 11, .forceCache, .mode),
        ("max-age=10", 11, .onlyIfCached, .mode), ("max-age=10", 1, .reload, .mode),
        ("max-age=10, stale-while-revalidate=5", 11, .default, .staleWhileRevalidate),
        ("no-cache", 1, .default, .mustValidate),
        ("max-age=10, must-revalidate", 11, .onlyIfCached, .onlyIfCached),
    ])
    func `The explained decision is what a request then does`(
        control: String, age: Double, mode: CacheMode, ground: CacheEvaluation.Reason
    ) async throws {
        let bench = try Bench(.control(control, etag: "a"))
        try await bench.ask()
        await bench.settle()
        bench.wall.advance(seconds: age)
        let evaluation = try await explain(bench, mode: mode).freshness.evaluation
        #expect(evaluation.reason == ground)
        #expect(bench.origin.fetches.value == 1)
        let request = try bench.request(mode: mode)
        let failure: PipelineError?
        var report: CacheReport?
        do throws(PipelineError) {
            report = try await bench.pipeline.image(for: request).cache
            failure = nil
        } catch {
            failure = error
        }
        switch evaluation.decision {
        case .use, .useAndRevalidate: #expect(report?.forwarded == nil && report != nil)
        case .ask(let reason): #expect(report?.forwarded == reason)
        case .refuse: #expect(failure == .notCached)
        }
    }

    @Test func `A request for a cached answer only is explained without failing`() async throws {
        let bench = try Bench()
        let explanation = try await explain(bench, mode: .onlyIfCached, fetch: true)
        #expect(explanation.freshness.evaluation.decision == .refuse)
        #expect(explanation.plan == .missing("The request accepts only a cached answer, and the source is not cached."))
        #expect(bench.origin.fetches.value == 0)
    }

    @Test func `A record whose bytes are gone leads to a download`() async throws {
        let bench = try Bench(.control("max-age=100"))
        try await bench.ask()
        await bench.settle()
        let keys = try await explain(bench).keys
        let source = RequestKeys.source(keys.identity)
        bench.memory.removeEverything()
        await bench.disk.remove(RequestKeys.original(of: source))
        #expect(try await explain(bench).freshness.evaluation.reason == .fresh)
        #expect(plan(try await explain(bench)) == nil)
        #expect(plan(try await explain(bench, fetch: true)) != nil)
        #expect(try await explain(bench, width: 7).freshness.evaluation.reason == .gone)
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `A remembered failure is thrown unless a stale image may be used`() async throws {
        let bench = try Bench(.control("max-age=10", etag: "a"))
        bench.origin.answer(.status(404))
        _ = try await bench.failure()
        let remembered = PipelineError.remembered(.notFound(status: 404), retryAfterSeconds: 60)
        await #expect(throws: remembered) { _ = try await explain(bench) }
        #expect(bench.origin.fetches.value == 1)

        let excused = try Bench(.control("max-age=10", etag: "a"))
        try await excused.ask()
        await excused.settle()
        excused.wall.advance(seconds: 11)
        excused.origin.answer(.status(500))
        try await excused.ask()
        let evaluation = try await explain(excused, fetch: true).freshness.evaluation
        #expect(evaluation.reason == .staleIfError)
        #expect(evaluation.decision == .use)
        #expect(excused.origin.fetches.value == 2)
    }

    @Test func `A failed download is thrown unless a stale image may be used`() async throws {
        let bench = try Bench(.control("max-age=10", etag: "a"))
        try await bench.ask()
        await bench.settle()
        bench.wall.advance(seconds: 11)
        bench.origin.answer(.status(500))
        #expect(plan(try await explain(bench, fetch: true)) != nil)
        #expect(bench.origin.fetches.value == 2)
        let empty = try Bench()
        empty.origin.answer(.status(404))
        await #expect(throws: PipelineError.notFound(status: 404)) { _ = try await explain(empty, fetch: true) }
    }

    @Test func `A refused or undecodable source fails as the request would`() async throws {
        struct Veto: ImagePipelineDelegate {
            func shouldDownload(_ source: SourceURL) async -> Bool { false }
        }
        let vetoed = try Bench(delegate: Veto())
        await #expect(throws: PipelineError.notDownloadable) { _ = try await explain(vetoed) }
        let refused = ImagePipeline(origin: LocalFiles(root: nil), memory: MemoryStore(budgetBytes: 0))
        await #expect(throws: PipelineError(.notAllowed(.local))) {
            _ = try await refused.explain(ImageRequest(url: "local:///a.png"))
        }
        let bench = try Bench()
        bench.origin.answer(.picture(ByteBuffer(string: "no picture")))
        await #expect(throws: PipelineError.unsupported) { _ = try await explain(bench, fetch: true) }
    }

    @Test func `Bytes that failed to decode fail again while they are the source's content`() async throws {
        let bench = try Bench(.control("max-age=100"))
        try await bench.ask()
        await bench.settle()
        bench.processing.damage(page: PageSelection.primary)
        var request = try bench.request(width: 9)
        _ = try? await bench.pipeline.image(for: request)
        await #expect(throws: PipelineError.self) { _ = try await explain(bench, width: 9) }
        request.recipe.box.width = 20
        #expect(plan(try await bench.pipeline.explain(request)) != nil)
    }

    @Test func `A custom filter is named, along with the source's identity`() async throws {
        let rule = QueryDroppingFilter.Rule(hostPattern: "*", parameterPatterns: ["*"])
        let bench = try Bench(keyFilter: QueryDroppingFilter(rules: [rule]))
        let request = try bench.request("http://example.com/a.png?token=1")
        let keys = try await bench.pipeline.explain(request).keys
        #expect(keys.filter == "QueryDroppingFilter")
        #expect(keys.identity == "http://example.com/a.png")
    }
}

/// The entries of a source.
@Suite(.timeLimit(.minutes(5)))
struct SourceEntriesTests {
    @Test func `An unknown source has no entries`() async throws {
        let entries = await (try Bench()).pipeline.entries(of: .example)
        #expect(entries.url == "http://example.com/a.png")
        #expect(entries.key == RequestKeys.source("http://example.com/a.png").hex)
        #expect(entries.record == nil)
        #expect(entries.entries.isEmpty)
    }

    @Test func `Record, original and variants are listed with tiers, sizes, ages and hits`() async throws {
        let bench = try Bench(.control("max-age=100", etag: "a"))
        for width in [20, 20, 20, 10] { try await bench.ask(width: width) }
        await bench.settle()
        bench.wall.advance(seconds: 30)
        let statistics = bench.memory.statistics
        let entries = await bench.pipeline.entries(of: .example)
        #expect(entries.entries.map(\.kind) == [.record, .original, .variant, .variant])
        #expect(
            entries.entries.allSatisfy { $0.tiers == [.memory, .disk] && $0.age == .seconds(7) && $0.bytes != nil })
        #expect(entries.entries.dropFirst(2).map { $0.hits ?? -1 }.sorted() == [0, 2])
        #expect(entries.entries.dropFirst(2).allSatisfy { $0.format == .png })
        #expect(entries.record?.remaining == .seconds(70))
        #expect(entries.record?.fetchedAt == WallClock.start)
        #expect(entries.record?.originFields[.eTag] == "\"a\"")
        #expect(entries.record?.contentDigest == StoreKey(hashing: try Pictures.red.get().readableBytesView).hex)
        #expect(bench.memory.statistics == statistics)
    }

    @Test func `Entries on disk only are listed without hits`() async throws {
        let bench = try Bench(memoryBytes: 0)
        try await bench.ask()
        await bench.settle()
        let entries = await bench.pipeline.entries(of: .example)
        #expect(entries.entries.map(\.tiers) == [.disk, .disk, .disk])
        #expect(entries.entries.allSatisfy { $0.hits == nil && $0.format == nil })
        #expect(entries.record != nil)
    }
}
