import DarkroomHTTPCaching
import DarkroomMachine
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import HTTPTypes
import NIOCore
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Images that come with the request.
@Suite(.timeLimit(.minutes(5)))
struct SourceDataTests {
    /// - Parameter bench: waits for the end of the use of the bytes, and of this request.
    private func request(
        _ bytes: ByteBuffer? = nil, width: Int = 20, store: TierSelection = .none, mode: CacheMode = .default,
        of bench: Bench? = nil
    ) throws -> ImageRequest {
        var recipe = Recipe()
        recipe.box = Box(width: width, height: nil)
        let bytes = try bytes ?? Pictures.green.get()
        let data = SourceData(SharedBytes(bytes), reservation: bench?.origin.reservation(bytes.readableBytes))
        return ImageRequest(
            data: data, recipe: recipe, cache: CacheOptions(policy: RequestCachePolicy(mode: mode), store: store))
    }

    private func failure(_ bench: Bench, _ request: ImageRequest) async -> PipelineError? {
        do throws(PipelineError) {
            _ = try await bench.pipeline.image(for: request)
            return nil
        } catch {
            return error
        }
    }

    @Test func `An image is made of the bytes, without an origin and without a trace in the caches`() async throws {
        let bench = try Bench()
        let size = try Pictures.green.get().readableBytes
        for runs in 1...2 {
            let image = try await bench.pipeline.image(for: request(of: bench))
            #expect(image.size.width == 20 && image.sourceBytes == size)
            #expect(image.cache.isUpload && image.cache.forwarded == .bypass && image.cache.originStatus == nil)
            #expect(!image.cache.isStored && image.timings.fetch == nil)
            #expect(bench.processing.runs.value == runs)
            await bench.settle()
        }
        #expect(bench.origin.fetches.value == 0)
        #expect(bench.memory.statistics.entries == 0 && bench.disk.count == 0)
    }

    @Test func `Sent bytes give the same result as a download`() async throws {
        let bench = try Bench()
        let downloaded = try await bench.ask()
        let sent = try await bench.pipeline.image(for: request(Pictures.red.get()))
        #expect(sent.digest == downloaded.digest)
    }

    @Test func `A stored result answers equal bytes from any client, and only with equal parameters`() async throws {
        let bench = try Bench()
        let first = try await bench.pipeline.image(for: request(store: .variants, of: bench))
        #expect(first.cache.isStored && first.cache.forwarded == .miss)
        await bench.settle()
        let again = try await bench.pipeline.image(for: request(store: .variants))
        #expect(again.cache == CacheReport(variant: .memory) && again.digest == first.digest)
        #expect(try await bench.pipeline.image(for: request(width: 10, store: .variants)).cache.variant == nil)
        #expect(
            try await bench.pipeline.image(for: request(Pictures.red.get(), store: .variants)).cache.variant == nil)
        #expect(bench.processing.runs.value == 3)
    }

    @Test func `The bytes are never stored, whatever the request says`() async throws {
        let bench = try Bench()
        for store in [TierSelection.all, .originals, .memory] {
            _ = try await bench.pipeline.image(for: request(store: store, of: bench))
            await bench.settle()
            let location = try await bench.pipeline.location(of: request(store: store))
            #expect(location.original == [])
        }
    }

    @Test func `What is stored of uploads is purged by their tag`() async throws {
        let bench = try Bench()
        _ = try await bench.pipeline.image(for: request(store: .all, of: bench))
        await bench.settle()
        let report = await bench.pipeline.purge(.tag(SourceData.purgeTag))
        #expect(report.sourceCount == 1)
        #expect(try await bench.pipeline.image(for: request(store: .all)).cache.variant == nil)
    }

    @Test func `Bytes that are no image fail as a source does`() async throws {
        let bench = try Bench()
        #expect(await failure(bench, try request(ByteBuffer(string: "no image"))) == .unsupported)
        let whole = try Pictures.green.get()
        let damaged = try #require(whole.getSlice(at: whole.readerIndex, length: whole.readableBytes / 2))
        #expect(await failure(bench, try request(damaged)) == .corrupt)
        #expect(await failure(bench, try request(damaged))?.cause == .corrupt)
        #expect(await failure(bench, try request(mode: .onlyIfCached)) == .notCached)
    }

    @Test func `The fallback is downloaded and cached as always`() async throws {
        let bench = try Bench(.control("max-age=60"))
        var broken = try request(ByteBuffer(string: "no image"))
        broken.fallback = .example
        let image = try await bench.pipeline.image(for: broken)
        #expect(image.fallbackReason == .unsupported && !image.cache.isUpload && image.cache.originStatus == 200)
        await bench.settle()
        #expect(try await bench.pipeline.image(for: broken).cache.variant == .memory)
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `A mark is downloaded once for many uploads`() async throws {
        let bench = try Bench(.control("max-age=60"))
        var marked = try request()
        marked.mark = .example
        marked.recipe.mark = Mark(anchor: .topLeft)
        for _ in 0..<2 {
            #expect(try await bench.pipeline.image(for: marked).cache.isUpload)
            await bench.settle()
        }
        #expect(bench.origin.fetches.value == 1)
    }

    @Test func `Setting a source replaces the bytes`() throws {
        var request = try request()
        #expect(request.source.scheme == .upload && request.data != nil)
        request.source = .example
        #expect(request.data == nil)
    }
}
