import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Requests whose image shows a mark: a second source with a life of its own.
@Suite(.timeLimit(.minutes(5)))
struct MarkTests {
    // MARK: Hits

    @Test func `Source and mark are fetched once, and a hit contacts no origin`() async throws {
        let bench = try Bench.withMark()
        let first = try await bench.askMarked()
        #expect(first.cache.variant == nil && first.cache.isStored)
        #expect(try await first.body != bench.ask().body)
        let again = try await bench.askMarked()
        #expect(again.cache.variant == .memory && again.cache.forwarded == nil)
        #expect(again.body == first.body)
        _ = try await bench.askMarked(width: 10)
        #expect(bench.origin.fetches.value == 2)
    }

    @Test(arguments: [("max-age=600", true), ("no-store", false)])
    func `While the source is downloaded, the bytes of a mark count unless they are stored`(
        mark: String, isStored: Bool
    ) async throws {
        let gate = Gate()
        let bench = try Bench.withMark(mark: .control(mark, etag: "m"), gate: gate)
        bench.origin.letNextPass()
        async let image = bench.askMarked()
        await gate.holds(1)
        #expect(bench.fetches() == 1 && bench.fetches(of: "/a.png") == 1)
        if isStored { await bench.origin.released() } else { #expect(bench.origin.usedBytes > 0) }
        gate.open()
        _ = try await image
        #expect(bench.fetches() == 1)
    }

    @Test func `A hit waits for nothing while source and mark are fresh in memory`() async throws {
        let bench = try Bench.withMark(mark: .control("max-age=60", etag: "m"))
        let lookup = bench.pipeline.lookup(for: try bench.markedRequest())
        #expect(bench.pipeline.imageNow(lookup) == nil)
        let image = try await bench.askMarked()
        #expect(bench.pipeline.imageNow(lookup)?.body == image.body)
        bench.wall.advance(seconds: 61)
        #expect(bench.pipeline.imageNow(lookup) == nil)
        bench.origin.answer(Bench.markPath, .picture(try Bench.mark([20, 20, 200]), .control("max-age=60")))
        let other = try await bench.askMarked()
        #expect(other.body != image.body)
        #expect(bench.pipeline.imageNow(lookup)?.body == other.body)
    }

    @Test func `Work for a mark begins with the request that asks by an earlier lookup`() async throws {
        let bench = try Bench.withMark()
        _ = try await bench.askMarked()
        let earlier = bench.pipeline.resolve(try bench.markedRequest())
        let request = bench.pipeline.renewed(earlier, client: "b", priority: .high)
        let mark = try #require(request.parts?.found.first)
        #expect(mark.record === earlier.parts?.found.first?.record)
        #expect(mark.request.urgency === request.urgency)
        #expect(request.urgency.clients == ["b"] && request.urgency.level == .high)
    }

    @Test func `Requests at the same time share the mark`() async throws {
        let bench = try Bench.withMark()
        let request = try bench.markedRequest()
        try await withThrowingTaskGroup { group in
            for width in 10..<20 {
                var request = request
                request.recipe.box = Box(width: width, height: nil)
                group.addTask { [request] in _ = try await bench.pipeline.image(for: request) }
            }
            try await group.waitForAll()
        }
        #expect(bench.fetches() == 1)
    }

    @Test func `A restart finds marked images on disk`() async throws {
        let bench = try Bench.withMark()
        let first = try await bench.askMarked()
        bench.pipeline.shrinkMemory(toFraction: 0)
        let again = try await bench.askMarked()
        #expect(again.cache.variant == .disk && again.body == first.body)
        #expect(bench.origin.fetches.value == 2)
    }

    // MARK: Changes

    @Test func `A changed mark makes another variant, without another download of the source`() async throws {
        let bench = try Bench.withMark(mark: .control("max-age=60", etag: "m"))
        let old = try await bench.askMarked()
        bench.wall.advance(seconds: 61)
        bench.origin.answer(Bench.markPath, .picture(try Bench.mark([20, 20, 200]), .control("max-age=60", etag: "n")))
        let new = try await bench.askMarked()
        #expect(new.body != old.body)
        #expect(new.cache.forwarded == .stale && new.cache.originStatus == 200)
        #expect(bench.fetches(of: "/a.png") == 1)
        // The old logo comes back, and with it what was made with it.
        bench.wall.advance(seconds: 61)
        bench.origin.answer(Bench.markPath, .picture(try Bench.mark(), .control("max-age=60", etag: "m")))
        let back = try await bench.askMarked()
        #expect(back.body == old.body && back.cache.variant == .memory)
    }

    @Test func `A confirmed mark keeps the variant`() async throws {
        let bench = try Bench.withMark(mark: .control("max-age=60", etag: "m"))
        let first = try await bench.askMarked()
        bench.wall.advance(seconds: 61)
        let again = try await bench.askMarked()
        #expect(again.body == first.body && again.cache.variant == .memory)
        #expect(again.cache.forwarded == .stale && again.cache.originStatus == 304)
        #expect(bench.processing.runs.value == 2)
    }

    @Test(arguments: [PurgeTarget.prefix("http://marks.net/"), .host("marks.net"), .everything])
    func `After a purge of the mark nothing that shows it is served until its origin has confirmed it`(
        target: PurgeTarget
    ) async throws {
        let bench = try Bench.withMark()
        let lookup = bench.pipeline.lookup(for: try bench.markedRequest())
        let image = try await bench.askMarked()
        _ = await bench.pipeline.purge(target)
        #expect(bench.pipeline.imageNow(lookup) == nil)
        bench.origin.answer(Bench.markPath, .status(404))
        #expect(await bench.failure(of: try bench.markedRequest()) == .mark(.notFound(status: 404)))
        _ = await bench.pipeline.purge(target)
        bench.origin.answer(Bench.markPath, .picture(try Bench.mark(), .control("max-age=60")))
        #expect(try await bench.askMarked().body == image.body)
        #expect(bench.fetches() == 3)
    }

    @Test func `A soft purge of the mark makes marked images stale`() async throws {
        let bench = try Bench.withMark()
        let image = try await bench.askMarked()
        _ = await bench.pipeline.purge(.source(try SourceURL(parsing: Bench.markURL)), soft: true)
        let again = try await bench.askMarked()
        #expect(again.body == image.body && again.cache.forwarded == .stale && again.cache.originStatus == 304)
    }

    @Test func `A mark whose bytes are in no cache any more is fetched again`() async throws {
        let bench = try Bench.withMark()
        _ = try await bench.askMarked()
        let key = RequestKeys.original(of: RequestKeys.source(Bench.markURL))
        bench.memory.remove(key)
        await bench.disk.remove(key)
        _ = try await bench.askMarked()
        #expect(bench.fetches() == 1)
        _ = try await bench.askMarked(width: 11)
        #expect(bench.fetches() == 2)
        // It has changed, and the image shows what it is now.
        bench.memory.remove(key)
        await bench.disk.remove(key)
        bench.origin.answer(Bench.markPath, .picture(try Bench.mark([20, 20, 200]), .control("max-age=600")))
        let new = try await bench.askMarked(width: 12)
        let other = try Bench.withMark(mark: .control("max-age=600"))
        other.origin.answer(Bench.markPath, .picture(try Bench.mark([20, 20, 200]), .control("max-age=600")))
        #expect(try await new.body == other.askMarked(width: 12).body)
    }

    // MARK: Failures

    @Test func `A request whose mark fails has no image, does not contact its source, and takes no fallback`()
        async throws
    {
        let cases: [(FakeOrigin.Answer, PipelineError)] = [
            (.status(404), .notFound(status: 404)),
            (.failure(.notAllowed(.host)), .notAllowed("The source's host is not allowed.")),
            (.picture(ByteBuffer(string: "<html>")), .unsupported), (.failure(.loop), .loop),
            (.picture(try #require(try Bench.mark().getSlice(at: 0, length: 60))), .corrupt),
        ]
        for (answer, error) in cases {
            let bench = try Bench.withMark()
            bench.origin.answer(Bench.markPath, answer)
            var request = try bench.markedRequest()
            request.fallback = try SourceURL(parsing: "http://example.com/b.png")
            #expect(await bench.failure(of: request) == .mark(error), "\(error)")
            #expect(bench.fetches(of: "/a.png") == 0 && bench.fetches(of: "/b.png") == 0)
            let again = await bench.failure(of: request)
            guard case .mark(let remembered, _)? = again else {
                Issue.record("not an error of the mark")
                continue
            }
            #expect(remembered.cause == error)
            #expect(try await bench.ask().cache.isStored)
        }
    }

    @Test func `While the mark's origin fails, a stale mark is used as far as it permits`() async throws {
        let bench = try Bench.withMark(mark: .control("max-age=60, stale-if-error=600", etag: "m"))
        let image = try await bench.askMarked()
        bench.wall.advance(seconds: 61)
        bench.origin.answer(Bench.markPath, .status(500))
        let stale = try await bench.askMarked()
        #expect(stale.body == image.body && stale.cache.staleBecause != nil && stale.remaining < .zero)
        bench.wall.advance(seconds: 600)
        guard case .mark(let error, _)? = await bench.failure(of: try bench.markedRequest()),
            case .originFailed = error.cause
        else {
            Issue.record("not the mark's failure")
            return
        }
    }

    @Test func `The fallback of a source that fails shows the mark too`() async throws {
        let bench = try Bench.withMark()
        bench.origin.answer("/a.png", .status(404))
        bench.origin.answer("/b.png", .picture(try Pictures.png(color: [20, 20, 200]), .control("max-age=60")))
        var request = try bench.markedRequest()
        request.fallback = try SourceURL(parsing: "http://example.com/b.png")
        let image = try await bench.pipeline.image(for: request)
        #expect(image.fallbackReason == .notFound(status: 404))
        var plain = try bench.request("http://example.com/b.png")
        #expect(try await bench.pipeline.image(for: plain).body != image.body)
        (plain.mark, plain.recipe.mark) = (request.mark, request.recipe.mark)
        #expect(try await bench.pipeline.image(for: plain).body == image.body)
    }

    // MARK: Documents and explanations

    @Test func `Placeholders show the mark`() async throws {
        let bench = try Bench.withMark()
        var request = try bench.markedRequest()
        request.recipe.mark = Mark(width: .percent(100), height: .percent(100), anchor: nil)
        request.placeholders = [.color]
        #expect(try await bench.pipeline.image(for: request).placeholders?.dominantColor == "#14c814")
        #expect(try await bench.pipeline.image(for: request).placeholders?.dominantColor == "#14c814")
    }

    @Test func `An explanation has the key of the variant, once the mark is known`() async throws {
        let bench = try Bench.withMark()
        let request = try bench.markedRequest()
        let before = try await bench.pipeline.explain(request)
        #expect(before.parts.first?.contentDigest == nil && before.parts.first?.source == Bench.markURL)
        #expect(bench.origin.fetches.value == 0)
        _ = try await bench.askMarked()
        let after = try await bench.pipeline.explain(request)
        let digest = StoreKey(hashing: try Bench.mark().readableBytesView).hex
        #expect(after.parts.first?.contentDigest == digest)
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
        let bench = try Bench.withMark()
        guard case .planned = try await bench.pipeline.explain(bench.markedRequest(), fetch: true).plan else {
            Issue.record("no plan")
            return
        }
        #expect(bench.fetches() == 1 && bench.disk.count == 0)
        bench.origin.answer(Bench.markPath, .status(404))
        _ = await bench.failure(of: try bench.markedRequest())
        await #expect(throws: PipelineError.self) { try await bench.pipeline.explain(try bench.markedRequest()) }
    }

    /// Counts the charges.
    private final class Account: WorkAccount {
        let charges = Counter()

        var share: (any AccountShare)? { nil }

        func charge(processing time: Duration) { charges.add() }
    }

    @Test(arguments: [(false, 2), (true, 1)])
    func `Work on a mark is charged to who chose it`(isOperators: Bool, charges: Int) async throws {
        let bench = try Bench.withMark()
        let account = Account()
        var request = try bench.markedRequest()
        request.account = account
        request.parts[0].isTrusted = isOperators
        _ = try await bench.pipeline.image(for: request)
        #expect(account.charges.value == charges)
    }
}
