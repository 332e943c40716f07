import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomPipeline

/// Requests whose image shows a mark: a second source with a life of its own.
@Suite(.timeLimit(.minutes(2)))
struct MarkTests {
    private static let url = "http://marks.net/logo.png"
    private static let path = "/logo.png"

    /// A bench whose origin also has a mark.
    private func bench(
        _ fields: HTTPFields = .control("max-age=600", etag: "a"),
        mark: HTTPFields = .control("max-age=600", etag: "m"), continuesInBackground: Bool = false,
        memoryBytes: Int = 1 << 20
    ) throws -> Bench {
        let bench = try Bench(fields, continuesInBackground: continuesInBackground, memoryBytes: memoryBytes)
        bench.origin.answer(Self.path, .picture(try Self.mark(), mark))
        return bench
    }

    private static func mark(_ color: [UInt8] = [20, 200, 20]) throws -> ByteBuffer {
        try Pictures.png(width: 8, height: 6, color: color)
    }

    private func request(
        _ bench: Bench, width: Int = 20, mode: CacheMode = .default, store: TierSelection = .all
    ) throws -> ImageRequest {
        var request = try bench.request(width: width, mode: mode, store: store)
        request.mark = try SourceURL(parsing: Self.url)
        request.recipe.mark = Mark(anchor: .topLeft)
        return request
    }

    private func ask(
        _ bench: Bench, width: Int = 20, mode: CacheMode = .default, store: TierSelection = .all
    ) async throws -> ImageResponse {
        try await bench.pipeline.image(for: request(bench, width: width, mode: mode, store: store))
    }

    private func failure(_ bench: Bench, _ request: ImageRequest) async -> PipelineError? {
        do throws(PipelineError) {
            _ = try await bench.pipeline.image(for: request)
            return nil
        } catch {
            return error
        }
    }

    private func fetches(_ bench: Bench, of path: String = Self.path) -> Int {
        bench.origin.requests.count { $0.url.path == path }
    }

    private func cacheControl(_ image: ImageResponse) -> String {
        image.cachePolicy.cacheControl(age: image.age, asked: nil, mayExtend: false, cap: .seconds(1 << 30)).description
    }

    // MARK: Hits

    @Test func `Source and mark are fetched once, and a hit contacts no origin`() async throws {
        let bench = try bench()
        let first = try await ask(bench)
        #expect(first.cache.variant == nil && first.cache.isStored)
        #expect(try await first.body != bench.ask().body)
        let again = try await ask(bench)
        #expect(again.cache.variant == .memory && again.cache.forwarded == nil)
        #expect(again.body == first.body)
        _ = try await ask(bench, width: 10)
        #expect(bench.origin.fetches.value == 2)
    }

    @Test func `A hit waits for nothing while source and mark are fresh in memory`() async throws {
        let bench = try bench(mark: .control("max-age=60", etag: "m"))
        let lookup = bench.pipeline.lookup(for: try request(bench))
        #expect(bench.pipeline.imageAtOnce(lookup) == nil)
        let image = try await ask(bench)
        #expect(bench.pipeline.imageAtOnce(lookup)?.body == image.body)
        bench.wall.advance(seconds: 61)
        #expect(bench.pipeline.imageAtOnce(lookup) == nil)
        bench.origin.answer(Self.path, .picture(try Self.mark([20, 20, 200]), .control("max-age=60")))
        let other = try await ask(bench)
        #expect(other.body != image.body)
        #expect(bench.pipeline.imageAtOnce(lookup)?.body == other.body)
    }

    @Test func `Requests at the same time share the mark`() async throws {
        let bench = try bench()
        let request = try request(bench)
        try await withThrowingTaskGroup { group in
            for width in 10..<20 {
                var request = request
                request.recipe.box = Box(width: width, height: nil)
                group.addTask { [request] in _ = try await bench.pipeline.image(for: request) }
            }
            try await group.waitForAll()
        }
        #expect(fetches(bench) == 1)
    }

    @Test func `A restart finds marked images on disk`() async throws {
        let bench = try bench()
        let first = try await ask(bench)
        bench.pipeline.shrinkMemory(toFraction: 0)
        let again = try await ask(bench)
        #expect(again.cache.variant == .disk && again.body == first.body)
        #expect(bench.origin.fetches.value == 2)
    }

    // MARK: Changes

    @Test func `A changed mark makes another variant, without another download of the source`() async throws {
        let bench = try bench(mark: .control("max-age=60", etag: "m"))
        let old = try await ask(bench)
        bench.wall.advance(seconds: 61)
        bench.origin.answer(Self.path, .picture(try Self.mark([20, 20, 200]), .control("max-age=60", etag: "n")))
        let new = try await ask(bench)
        #expect(new.body != old.body)
        #expect(new.cache.forwarded == .stale && new.cache.originStatus == 200)
        #expect(fetches(bench, of: "/a.png") == 1)
        // The old logo comes back, and with it what was made with it.
        bench.wall.advance(seconds: 61)
        bench.origin.answer(Self.path, .picture(try Self.mark(), .control("max-age=60", etag: "m")))
        let back = try await ask(bench)
        #expect(back.body == old.body && back.cache.variant == .memory)
    }

    @Test func `A confirmed mark keeps the variant`() async throws {
        let bench = try bench(mark: .control("max-age=60", etag: "m"))
        let first = try await ask(bench)
        bench.wall.advance(seconds: 61)
        let again = try await ask(bench)
        #expect(again.body == first.body && again.cache.variant == .memory)
        #expect(again.cache.forwarded == .stale && again.cache.originStatus == 304)
        #expect(bench.processing.runs.value == 2)
    }

    @Test(arguments: [PurgeTarget.prefix("http://marks.net/"), .host("marks.net"), .everything])
    func `After a purge of the mark nothing that shows it is served until its origin has confirmed it`(
        target: PurgeTarget
    ) async throws {
        let bench = try bench()
        let lookup = bench.pipeline.lookup(for: try request(bench))
        let image = try await ask(bench)
        _ = await bench.pipeline.purge(target)
        #expect(bench.pipeline.imageAtOnce(lookup) == nil)
        bench.origin.answer(Self.path, .status(404))
        #expect(await failure(bench, try request(bench)) == .mark(.notFound(status: 404)))
        _ = await bench.pipeline.purge(target)
        bench.origin.answer(Self.path, .picture(try Self.mark(), .control("max-age=60")))
        #expect(try await ask(bench).body == image.body)
        #expect(fetches(bench) == 3)
    }

    @Test func `A soft purge of the mark makes marked images stale`() async throws {
        let bench = try bench()
        let image = try await ask(bench)
        _ = await bench.pipeline.purge(.source(try SourceURL(parsing: Self.url)), soft: true)
        let again = try await ask(bench)
        #expect(again.body == image.body && again.cache.forwarded == .stale && again.cache.originStatus == 304)
    }

    @Test func `A mark whose bytes are in no cache any more is fetched again`() async throws {
        let bench = try bench()
        _ = try await ask(bench)
        let key = RequestKeys.original(of: RequestKeys.source(Self.url))
        bench.memory.remove(key)
        await bench.disk.remove(key)
        _ = try await ask(bench)
        #expect(fetches(bench) == 1)
        _ = try await ask(bench, width: 11)
        #expect(fetches(bench) == 2)
        // It has changed, and the image shows what it is now.
        bench.memory.remove(key)
        await bench.disk.remove(key)
        bench.origin.answer(Self.path, .picture(try Self.mark([20, 20, 200]), .control("max-age=600")))
        let new = try await ask(bench, width: 12)
        let other = try self.bench(mark: .control("max-age=600"))
        other.origin.answer(Self.path, .picture(try Self.mark([20, 20, 200]), .control("max-age=600")))
        #expect(try await new.body == ask(other, width: 12).body)
    }

    // MARK: Failures

    @Test func `A request whose mark fails has no image, does not contact its source, and takes no fallback`()
        async throws
    {
        let cases: [(FakeOrigin.Answer, PipelineError)] = [
            (.status(404), .notFound(status: 404)),
            (.failure(.notAllowed(.host)), .notAllowed("The source's host is not allowed.")),
            (.picture(ByteBuffer(string: "<html>")), .unsupported), (.failure(.loop), .loop),
            (.picture(try #require(try Self.mark().getSlice(at: 0, length: 60))), .corrupt),
        ]
        for (answer, error) in cases {
            let bench = try bench()
            bench.origin.answer(Self.path, answer)
            var request = try request(bench)
            request.fallback = try SourceURL(parsing: "http://example.com/b.png")
            #expect(await failure(bench, request) == .mark(error), "\(error)")
            #expect(fetches(bench, of: "/a.png") == 0 && fetches(bench, of: "/b.png") == 0)
            let again = await failure(bench, request)
            guard case .mark(let remembered)? = again else {
                Issue.record("not an error of the mark")
                continue
            }
            #expect(remembered.cause == error)
            #expect(try await bench.ask().cache.isStored)
        }
    }

    @Test func `While the mark's origin fails, a stale mark is used as far as it permits`() async throws {
        let bench = try bench(mark: .control("max-age=60, stale-if-error=600", etag: "m"))
        let image = try await ask(bench)
        bench.wall.advance(seconds: 61)
        bench.origin.answer(Self.path, .status(500))
        let stale = try await ask(bench)
        #expect(stale.body == image.body && stale.cache.staleBecause != nil && stale.remaining < .zero)
        bench.wall.advance(seconds: 600)
        guard case .mark(let error)? = await failure(bench, try request(bench)), case .originFailed = error.cause else {
            Issue.record("not the mark's failure")
            return
        }
    }

    @Test func `The fallback of a source that fails shows the mark too`() async throws {
        let bench = try bench()
        bench.origin.answer("/a.png", .status(404))
        bench.origin.answer("/b.png", .picture(try Pictures.png(color: [20, 20, 200]), .control("max-age=60")))
        var request = try request(bench)
        request.fallback = try SourceURL(parsing: "http://example.com/b.png")
        let image = try await bench.pipeline.image(for: request)
        #expect(image.fallbackReason == .notFound(status: 404))
        var plain = try bench.request("http://example.com/b.png")
        #expect(try await bench.pipeline.image(for: plain).body != image.body)
        (plain.mark, plain.recipe.mark) = (request.mark, request.recipe.mark)
        #expect(try await bench.pipeline.image(for: plain).body == image.body)
    }

    // MARK: Freshness

    @Test(arguments: [
        ("max-age=600", "max-age=60", "public, max-age=60"), ("max-age=60", "max-age=600", "public, max-age=60"),
        ("max-age=600", "private, max-age=700", "private, max-age=600"),
        ("max-age=600, s-maxage=900", "max-age=700", "public, max-age=600, s-maxage=700"),
        ("max-age=600, immutable", "max-age=700, immutable", "public, max-age=600, immutable"),
        ("max-age=600, immutable, stale-while-revalidate=5", "max-age=700", "public, max-age=600"),
        ("max-age=600", "max-age=700, must-revalidate", "public, max-age=600, must-revalidate"),
        ("max-age=600", "no-cache", "public, no-cache"), ("max-age=600", "no-store", "no-store"),
        ("no-store", "max-age=600", "no-store"),
    ])
    func `A marked image is no fresher and no more storable than either source`(
        source: String, mark: String, both: String
    ) async throws {
        let bench = try bench(.control(source, etag: "a"), mark: .control(mark, etag: "m"))
        let image = try await ask(bench)
        #expect(cacheControl(image) == both)
        #expect(image.lastModified == nil)
    }

    @Test func `Age and lifetime count from the older source`() async throws {
        let bench = try bench(.control("max-age=300", etag: "a"), mark: .control("max-age=250", etag: "m"))
        try await bench.ask()
        bench.wall.advance(seconds: 100)
        let image = try await ask(bench)
        #expect(image.age == .seconds(100) && image.remaining == .seconds(200))
        #expect(cacheControl(image) == "public, max-age=300")
        bench.wall.advance(seconds: 40)
        let later = try await ask(bench)
        #expect(later.age == .seconds(140) && later.remaining == .seconds(160))
        #expect(later.cachePolicy == image.cachePolicy)
    }

    @Test func `An image with a mark that may not be stored is not stored`() async throws {
        let bench = try bench(mark: .control("no-store"))
        let image = try await ask(bench)
        #expect(!image.cache.isStored)
        #expect(fetches(bench) == 1)
        #expect(try await ask(bench).cache.variant == nil)
        #expect(fetches(bench) == 2 && fetches(bench, of: "/a.png") == 1)
    }

    @Test func `A request that stores nothing stores no mark`() async throws {
        let bench = try bench()
        _ = try await ask(bench, store: .none)
        #expect(bench.memory.statistics.entries == 0 && bench.disk.count == 0)
    }

    @Test func `A forced refresh asks for the mark too, and a request for cached images asks for nothing`() async throws
    {
        let bench = try bench()
        #expect(await failure(bench, try request(bench, mode: .onlyIfCached)) == .notCached)
        _ = try await ask(bench)
        _ = try await ask(bench, mode: .reload)
        #expect(fetches(bench) == 2 && fetches(bench, of: "/a.png") == 2)
        #expect(try await ask(bench, mode: .onlyIfCached).cache.variant == .memory)
    }

    // MARK: Documents and explanations

    @Test func `Placeholders show the mark`() async throws {
        let bench = try bench()
        var request = try request(bench)
        request.recipe.mark = Mark(width: .percent(100), height: .percent(100), anchor: .tile)
        request.placeholders = [.color]
        #expect(try await bench.pipeline.image(for: request).placeholders?.dominantColor == "#14c814")
        #expect(try await bench.pipeline.image(for: request).placeholders?.dominantColor == "#14c814")
    }

    @Test func `An explanation has the key of the variant, once the mark is known`() async throws {
        let bench = try bench()
        let request = try request(bench)
        let before = try await bench.pipeline.explain(request)
        #expect(before.mark?.contentDigest == nil && before.mark?.source == Self.url)
        #expect(bench.origin.fetches.value == 0)
        _ = try await ask(bench)
        let after = try await bench.pipeline.explain(request)
        let digest = StoreKey(hashing: try Self.mark().readableBytesView).hex
        #expect(after.mark?.contentDigest == digest)
        #expect(after.keys.variant != before.keys.variant && after.keys.source == before.keys.source)
        #expect(after.caches.first { $0.kind == .variant }?.tiers == [.memory, .disk])
        guard case .planned(let plan) = after.plan else {
            Issue.record("no plan")
            return
        }
        #expect(plan.steps.map(\.name).contains("mark"))
        #expect(await bench.pipeline.location(of: request).variant == [.memory, .disk])
    }

    @Test func `An explanation fetches the mark only if it is asked to, and stores nothing`() async throws {
        let bench = try bench()
        guard case .planned = try await bench.pipeline.explain(request(bench), fetch: true).plan else {
            Issue.record("no plan")
            return
        }
        #expect(fetches(bench) == 1 && bench.disk.count == 0)
        bench.origin.answer(Self.path, .status(404))
        _ = await failure(bench, try request(bench))
        await #expect(throws: PipelineError.self) { try await bench.pipeline.explain(try request(bench)) }
    }
}
