import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomObjectStorage
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import Foundation
import HTTPTypes
import Logging
import NIOCore

@testable import DarkroomPipeline

/// Servers that share a tier, with one origin and one clock.
struct Cluster {
    let wall = WallClock()
    let bucket = MemoryBucket()
    let origin: FakeOrigin
    var shared = SharedStoreConfiguration()

    /// - Parameter fields: the origin's response fields for its only image, which is red.
    init(_ fields: HTTPFields = .control("max-age=60", etag: "a"), gate: Gate? = nil) throws {
        origin = FakeOrigin(try Pictures.red.get(), fields, gate: gate, wall: wall)
    }

    /// One server.
    struct Node {
        let pipeline: ImagePipeline
        let store: SharedStore
        let disk: MemoryDisk

        @discardableResult
        func ask(
            _ url: String = "http://example.com/a.png", width: Int = 20, mode: CacheMode = .default,
            store: TierSelection = .all
        ) async throws -> ImageResponse {
            var recipe = Recipe()
            recipe.box = Box(width: width, height: nil)
            let policy = RequestCachePolicy(mode: mode, allowsForcedRefresh: true)
            let request = try ImageRequest(
                url: url, recipe: recipe, cache: CacheOptions(policy: policy, store: store))
            let image = try await pipeline.image(for: request)
            await self.store.flush()
            return image
        }

        /// The sum of the requests for which the origin was not contacted.
        func tier(_ url: String = "http://example.com/a.png", width: Int = 20) async throws -> CacheReport.Tier? {
            let report = try await ask(url, width: width).cache
            return report.forwarded == nil ? report.variant ?? report.original : nil
        }
    }

    /// Starts a server that has carried out the purges until now.
    ///
    /// - Parameters:
    ///   - disk: what the server left on its disk when it ran before.
    ///   - readsPurges: whether the server has read the purge log.
    func node(
        disk: MemoryDisk = MemoryDisk(), readsPurges: Bool = true, logger: Logger = Logger(label: "test"),
        instant: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) async -> Node {
        let (wall, store) = (wall, store(logger: logger, instant: instant))
        let node = Node(
            pipeline: ImagePipeline(
                configuration: PipelineConfiguration(), origin: origin, memory: MemoryStore(budgetBytes: 1 << 20),
                disk: disk, shared: store, processing: InProcessImageProcessor(), keyFilter: CanonicalURLFilter(),
                logger: logger, now: { wall.now }),
            store: store, disk: disk)
        if readsPurges { await node.pipeline.carryOutPurges() }
        return node
    }

    private func store(logger: Logger, instant: @escaping @Sendable () -> ContinuousClock.Instant) -> SharedStore {
        SharedStore(bucket, shared, logger: logger, now: { [wall] in wall.now }, instant: instant)
    }
}
