import DarkroomHTTPCaching
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import DarkroomVips
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Placeholders, which are returned with an image, cached like it, and never delay or fail it.
@Suite(.timeLimit(.minutes(5)))
struct PlaceholderTests {
    private func wanted(
        _ bench: Bench, _ placeholders: ImageDetails = [.color, .blurHash, .thumbHash, .lqip],
        mode: CacheMode = .default, store: TierSelection = .all
    ) throws -> ImageRequest {
        var request = try bench.request(mode: mode, store: store)
        request.placeholders = placeholders
        return request
    }

    @Test func `Placeholders equal the text formats of the same image`() async throws {
        let bench = try Bench()
        let told = try #require(try await bench.pipeline.image(for: wanted(bench)).placeholders)
        var texts: [OutputFormat: String] = [:]
        for format in [OutputFormat.blurHash, .thumbHash, .color, .lqip] {
            var request = try bench.request()
            request.output = OutputOptions(format: format)
            texts[format] = String(buffer: try await bench.pipeline.image(for: request).body)
        }
        #expect(
            told
                == Placeholders(
                    blurHash: texts[.blurHash], thumbHash: texts[.thumbHash], dominantColor: texts[.color],
                    lqip: texts[.lqip]))
    }

    @Test func `Only the requested placeholders are returned`() async throws {
        let bench = try Bench()
        let color = try #require(try await bench.pipeline.image(for: wanted(bench, .color)).placeholders)
        #expect(color == Placeholders(dominantColor: "#c81414"))
        #expect(try await bench.ask().placeholders == nil)
        #expect(try await bench.pipeline.image(for: wanted(bench, [.exif, .palette])).placeholders == nil)
    }

    @Test func `A second answer comes from memory with its placeholders`() async throws {
        let bench = try Bench()
        let first = try await bench.pipeline.image(for: wanted(bench))
        let second = try await bench.pipeline.image(for: wanted(bench))
        #expect(second.cache == CacheReport(variant: .memory))
        #expect(second.placeholders == first.placeholders)
        #expect(second.body == first.body)
        #expect(bench.processing.runs.value == 2)
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `The image's entry does not depend on placeholders, and formats share them`() async throws {
        let bench = try Bench()
        let plain = try await bench.ask()
        let told = try await bench.pipeline.image(for: wanted(bench))
        #expect(told.cache == CacheReport(variant: .memory))
        #expect(told.digest == plain.digest)
        #expect(bench.processing.runs.value == 2)
        var other = try wanted(bench)
        other.output = OutputOptions(format: .webp, quality: 30)
        #expect(try await bench.pipeline.image(for: other).placeholders == told.placeholders)
        #expect(bench.processing.runs.value == 3)
    }

    @Test func `Concurrent requests take one download and two productions`() async throws {
        let gate = Gate()
        let bench = try Bench(gate: gate)
        let request = try wanted(bench)
        try await withThrowingTaskGroup(of: Placeholders?.self) { group in
            for _ in 0..<20 { group.addTask { try await bench.pipeline.image(for: request).placeholders } }
            gate.open()
            for try await told in group { #expect(told?.blurHash?.utf8.count == 28) }
        }
        #expect(bench.origin.fetches.value == 1)
        #expect(bench.processing.runs.value == 2)
    }

    @Test func `Placeholders of an image that may not be stored come from the same download`() async throws {
        let bench = try Bench(.control("no-store"))
        for count in 1...2 {
            #expect(try await bench.pipeline.image(for: wanted(bench)).placeholders?.lqip != nil)
            #expect(bench.origin.fetches.value == count)
        }
        #expect(bench.disk.count == 0)
    }

    @Test func `A source whose bytes are gone is downloaded again once`() async throws {
        let bench = try Bench()
        try await bench.ask(store: .variants)
        await bench.settle()
        let told = try await bench.pipeline.image(for: wanted(bench))
        #expect(told.placeholders?.dominantColor == "#c81414")
        #expect(told.cache.forwarded == .miss)
        #expect(try await bench.pipeline.image(for: wanted(bench)).cache == CacheReport(variant: .memory))
        #expect(bench.origin.fetches.value == 2)
    }

    @Test(arguments: [CacheMode.default, .onlyIfCached])
    func `A cached image is returned without placeholders that cannot be made`(mode: CacheMode) async throws {
        let bench = try Bench()
        try await bench.ask(store: .variants)
        await bench.settle()
        bench.origin.answer(.status(500))
        let picture = try await bench.pipeline.image(for: wanted(bench, mode: mode))
        #expect(picture.cache == CacheReport(variant: .memory))
        #expect(picture.placeholders == nil)
    }

    @Test func `Failing placeholders do not fail the image`() async throws {
        struct Untold: ImageProcessing {
            func process(_ job: ImageJob, interrupt: @escaping Interrupt) throws(ImageProcessingError) -> ProcessedImage
            {
                guard job.output.format != .json else { throw .encodingFailed("no") }
                return try InProcessImageProcessor().process(job, interrupt: interrupt)
            }
        }
        let pipeline = ImagePipeline(
            origin: FakeOrigin(try Pictures.png()), memory: MemoryStore(budgetBytes: 1 << 20), processing: Untold())
        let request = try ImageRequest(url: "http://example.com/a.png", placeholders: .lqip)
        for _ in 0..<2 {
            let picture = try await pipeline.image(for: request)
            #expect(picture.format == .png)
            #expect(picture.placeholders == nil)
        }
    }

    @Test func `A source that fails also fails with placeholders`() async throws {
        let bench = try Bench()
        bench.origin.answer(.status(404))
        let request = try wanted(bench)
        await #expect(throws: PipelineError.notFound(status: 404)) { try await bench.pipeline.image(for: request) }
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `A fallback's placeholders are the fallback's`() async throws {
        let origin = FakeOrigin([
            "/a.png": .status(404), "/b.png": .picture(try Pictures.png(color: [20, 200, 20])),
        ])
        let pipeline = ImagePipeline(origin: origin, memory: MemoryStore(budgetBytes: 1 << 20))
        let request = try ImageRequest(
            url: "http://example.com/a.png", fallback: "http://example.com/b.png", placeholders: .color)
        #expect(try await pipeline.image(for: request).placeholders?.dominantColor == "#14c814")
    }
}
