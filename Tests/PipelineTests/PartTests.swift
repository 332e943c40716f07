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

/// Requests that draw several images, each of which has an origin of its own.
@Suite(.timeLimit(.minutes(5)))
struct PartTests {
    private static let green: [UInt8] = [20, 200, 20]
    private static let blue: [UInt8] = [20, 20, 200]

    private func bench(
        _ a: HTTPFields = .control("max-age=600", etag: "a"), _ b: HTTPFields = .control("max-age=600", etag: "b")
    ) throws -> Bench {
        let bench = try Bench(.control("max-age=600", etag: "s"))
        bench.origin.answer("/a-part.png", .picture(try Bench.mark(Self.green), a))
        bench.origin.answer("/b-part.png", .picture(try Bench.mark(Self.blue), b))
        return bench
    }

    /// A red image with a green part at the left and a blue part at the right.
    private func request(
        _ bench: Bench, mode: CacheMode = .default, _ change: (inout PartImage) -> Void = { _ in }
    ) throws -> ImageRequest {
        var request = try bench.request(mode: mode)
        request.recipe.layers = [
            Layer("a", .picture(Picture()), x: Place(.start)), Layer("b", .picture(Picture()), x: Place(.end)),
        ]
        request.output = OutputOptions(format: .png)
        request.parts = [
            PartImage("a", try SourceURL(parsing: "http://one.net/a-part.png")),
            PartImage("b", try SourceURL(parsing: "http://two.net/b-part.png")),
        ]
        change(&request.parts[1])
        return request
    }

    private func ask(
        _ bench: Bench, mode: CacheMode = .default, _ change: (inout PartImage) -> Void = { _ in }
    ) async throws -> ImageResponse {
        try await bench.pipeline.image(for: request(bench, mode: mode, change))
    }

    /// The name and the status of a drawn image that failed.
    private func failedPart(_ error: PipelineError) -> String? {
        guard case .mark(let cause, let name) = error, let status = cause.statusOfSource else { return nil }
        return "\(name) \(status)"
    }

    @Test func `Every image is fetched once, and a hit contacts no origin`() async throws {
        let bench = try bench()
        let first = try await ask(bench)
        #expect(first.cache.variant == nil && first.cache.isStored && first.partFailure == nil)
        #expect(bench.origin.fetches.value == 3)
        let again = try await ask(bench)
        #expect(again.cache.variant == .memory && again.body == first.body)
        let lookup = bench.pipeline.lookup(for: try request(bench))
        #expect(bench.pipeline.imageNow(lookup)?.body == first.body)
        #expect(bench.origin.fetches.value == 3)
    }

    @Test func `A layer shows the image of its name`() async throws {
        let bench = try bench()
        let image = try await ask(bench)
        var exchanged = try request(bench)
        (exchanged.recipe.layers[0].x, exchanged.recipe.layers[1].x) = (Place(.end), Place(.start))
        (exchanged.parts[0].source, exchanged.parts[1].source) = (exchanged.parts[1].source, exchanged.parts[0].source)
        exchanged.recipe.layers.swapAt(0, 1)
        #expect(try await bench.pipeline.image(for: exchanged).body == image.body)
        (exchanged.parts[0].source, exchanged.parts[1].source) = (exchanged.parts[1].source, exchanged.parts[0].source)
        #expect(try await bench.pipeline.image(for: exchanged).body != image.body)
    }

    @Test func `An image is as fresh as the least fresh of its images`() async throws {
        let bench = try bench(.control("max-age=300", etag: "a"), .control("max-age=60", etag: "b"))
        let image = try await ask(bench)
        #expect(image.remaining == .seconds(60) && image.partRecords.count == 2)
        bench.wall.advance(seconds: 61)
        bench.origin.answer("/b-part.png", .picture(try Bench.mark(Self.green), .control("max-age=60", etag: "c")))
        let later = try await ask(bench)
        #expect(later.body != image.body && bench.fetches(of: "/b-part.png") == 2)
        #expect(bench.fetches(of: "/a-part.png") == 1 && bench.fetches(of: "/a.png") == 1)
    }

    @Test func `A failed image fails the request, and is remembered`() async throws {
        let bench = try bench()
        bench.origin.answer("/b-part.png", .status(404, .control("max-age=60")))
        let error = await bench.failure(of: try request(bench))
        #expect(error.flatMap(failedPart) == "b 404")
        guard case .mark(.remembered, "b")? = await bench.failure(of: try request(bench)) else {
            Issue.record("It is not remembered.")
            return
        }
        #expect(bench.fetches(of: "/b-part.png") == 1)
    }

    @Test func `A failed image may be left out, for as long as a fallback is used`() async throws {
        let bench = try bench()
        let whole = try await ask(bench)
        bench.origin.answer("/b-part.png", .status(404, .control("max-age=60")))
        let other = try self.bench()
        other.origin.answer("/b-part.png", .status(404, .control("max-age=60")))
        let image = try await ask(other) { $0.mayBeLeftOut = true }
        #expect(image.body != whole.body && image.partFailure?.statusOfSource == 404)
        #expect(image.partRecords.count == 1)
        var alone = try request(other)
        alone.recipe.layers.removeLast()
        alone.parts.removeLast()
        #expect(try await other.pipeline.image(for: alone).body == image.body)
        other.wall.advance(seconds: 61)
        other.origin.answer("/b-part.png", .picture(try Bench.mark(Self.blue), .control("max-age=600")))
        let healed = try await ask(other) { $0.mayBeLeftOut = true }
        #expect(healed.body == whole.body && healed.partFailure == nil)
    }

    @Test func `A fallback replaces a failed image, under the same rules`() async throws {
        let bench = try bench()
        bench.origin.answer("/b-part.png", .status(404, .control("max-age=60")))
        let fallback = try SourceURL(parsing: "http://one.net/a-part.png")
        let image = try await ask(bench) { $0.fallback = fallback }
        #expect(image.partFailure?.statusOfSource == 404 && image.partRecords.count == 2)
        bench.origin.refuse("/a-part.png", .notAllowed(.host))
        let refused = await bench.failure(of: try request(bench) { $0.fallback = fallback })
        #expect(refused == .mark(.notAllowed("The source's host is not allowed."), name: "a"))
    }

    @Test func `A fallback that fails too counts as the failure of its image`() async throws {
        let bench = try bench()
        for path in ["/b-part.png", "/c.png"] { bench.origin.answer(path, .status(404, .control("max-age=60"))) }
        let fallback = try SourceURL(parsing: "http://one.net/c.png")
        let failing = try request(bench) { $0.fallback = fallback }
        #expect(await bench.failure(of: failing).flatMap(failedPart) == "b 404")
        let image = try await ask(bench) { ($0.fallback, $0.mayBeLeftOut) = (fallback, true) }
        #expect(image.partRecords.count == 1)
    }

    @Test(arguments: [false, true])
    func `An image of a forbidden host is refused before anything is fetched, left out or not`(
        mayBeLeftOut: Bool
    ) async throws {
        let bench = try bench()
        bench.origin.refuse("/b-part.png", .notAllowed(.host))
        let error = await bench.failure(of: try request(bench) { $0.mayBeLeftOut = mayBeLeftOut })
        #expect(error == .mark(.notAllowed("The source's host is not allowed."), name: "b"))
        #expect(bench.origin.fetches.value == 0)
    }

    @Test func `A purge of one image's source renews the result`() async throws {
        let bench = try bench()
        let image = try await ask(bench)
        bench.origin.answer("/b-part.png", .picture(try Bench.mark(Self.green), .control("max-age=600", etag: "c")))
        await bench.pipeline.purge(.source(try SourceURL(parsing: "http://two.net/b-part.png")))
        #expect(try await ask(bench).body != image.body)
        #expect(bench.fetches(of: "/b-part.png") == 2 && bench.fetches(of: "/a-part.png") == 1)
    }

    @Test func `A result has the tags of all its images`() async throws {
        let bench = try bench()
        let tags = bench.pipeline.edgeTags(of: try await ask(bench)).kept
        #expect(["h-example.com", "h-one.net", "h-two.net"].allSatisfy(tags.contains))
        bench.origin.answer("/b-part.png", .status(404, .control("max-age=60")))
        let image = try await ask(bench, mode: .reload) { $0.mayBeLeftOut = true }
        #expect(bench.pipeline.edgeTags(of: image).kept.contains("h-two.net"))
    }

    @Test func `An image that may not be stored keeps the result out of the caches`() async throws {
        let bench = try bench(.control("no-store"))
        #expect(try await !ask(bench).cache.isStored)
    }

    @Test func `An explanation lists the images in the order of the request`() async throws {
        let bench = try bench()
        let before = try await bench.pipeline.explain(request(bench), fetch: true)
        #expect(before.parts.map(\.name) == ["a", "b"] && before.parts.allSatisfy { $0.contentDigest == nil })
        guard case .planned(let plan) = before.plan else {
            Issue.record("There is no plan.")
            return
        }
        #expect(plan.steps.map(\.name).count { $0 == "picture" } == 2)
        _ = try await ask(bench)
        let after = try await bench.pipeline.explain(request(bench))
        #expect(after.parts.allSatisfy { $0.contentDigest?.count == 64 })
    }

    @Test func `Errors of an image's own steps name its parameter`() async throws {
        let bench = try bench()
        var request = try request(bench)
        guard case .picture(var picture) = request.recipe.layers[1].content else { return }
        picture.recipe.crop = Crop(x: .pixels(0), y: .pixels(0), width: .pixels(900), height: .pixels(4))
        request.recipe.layers[1].content = .picture(picture)
        guard case .badParameter(let error)? = await bench.failure(of: request) else {
            Issue.record("It does not fail.")
            return
        }
        #expect(error.parameter == "mark.b.crop")
    }
}
