import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import HTTPTypes
import Logging
import Testing

@testable import DarkroomCache
@testable import DarkroomPipeline

/// A pipeline works with every subset of the tiers.
@Suite(.timeLimit(.minutes(5)))
struct TierSubsetTests {
    static let subsets = (0..<8).map { TierSet(rawValue: $0) }

    /// The tiers of a pipeline, which share nothing with other pipelines.
    private struct Tiers {
        /// No time passes, however long the test takes.
        private static let instant = ContinuousClock.now

        let set: TierSet
        let disk = MemoryDisk()
        let shared = SharedStore(
            MemoryBucket(), SharedStoreConfiguration(), logger: Logger(label: "test"), now: { WallClock.start },
            instant: { instant })

        func pipeline(_ origin: FakeOrigin) async -> ImagePipeline {
            let pipeline = ImagePipeline(
                configuration: PipelineConfiguration(), origin: origin,
                memory: MemoryStore(budgetBytes: set.contains(.memory) ? 1 << 20 : 0),
                disk: set.contains(.disk) ? disk : nil, shared: set.contains(.shared) ? shared : nil,
                processing: InProcessImageProcessor(), keyFilter: CanonicalURLFilter(), logger: Logger(label: "test"),
                now: { WallClock.start })
            await pipeline.carryOutPurges()
            return pipeline
        }

        /// The nearest tier.
        var first: CacheTier? {
            let tiers: [(CacheTier, TierSet)] = [(.memory, .memory), (.disk, .disk), (.shared, .shared)]
            return tiers.first { set.isSuperset(of: $0.1) }?.0
        }

        /// Returns once what a request has made is stored, and its original no longer in use.
        func settle(_ origin: FakeOrigin) async {
            if set.contains(.disk) { await disk.waitForCount { $0 >= 3 } }
            await shared.flush()
            await origin.released()
        }
    }

    private func request() throws -> ImageRequest { try ImageRequest(url: "http://example.com/a.png", width: 20) }

    @Test(arguments: subsets)
    func `An image is found in the nearest tier that there is, at once if that is memory`(set: TierSet) async throws {
        let tiers = Tiers(set: set)
        let origin = FakeOrigin(try Pictures.red.get(), .control("max-age=600", etag: "a"))
        let pipeline = await tiers.pipeline(origin)
        let made = try await pipeline.image(for: request())
        await tiers.settle(origin)
        #expect(try await pipeline.location(of: request()).variant == set)
        let lookup = pipeline.lookup(for: try request())
        #expect((pipeline.imageNow(lookup) != nil) == set.contains(.memory))
        let found = try await pipeline.image(for: request())
        #expect(found.cache.variant == tiers.first && found.digest == made.digest)
        #expect(origin.fetches.value == (set.isEmpty ? 2 : 1))
    }

    @Test(arguments: subsets)
    func `A purge removes an image from all tiers, and an explanation says so`(set: TierSet) async throws {
        let tiers = Tiers(set: set)
        let origin = FakeOrigin(try Pictures.red.get(), .control("max-age=600", etag: "a"))
        let pipeline = await tiers.pipeline(origin)
        _ = try await pipeline.image(for: request())
        await tiers.settle(origin)
        #expect(
            try await pipeline.explain(request()).decision?.step
                == (set.isEmpty ? .fetch(.unconditional, .miss) : .useVariant))
        await pipeline.purge(.everything)
        #expect(try await pipeline.explain(request()).caches.allSatisfy(\.tiers.isEmpty))
        #expect(try await pipeline.image(for: request()).cache.forwarded == .miss)
        #expect(origin.fetches.value == 2)
    }
}
