import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomObjectStorage
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import Foundation
import HTTPTypes
import Logging
import NIOCore
import Synchronization

@testable import DarkroomCache
@testable import DarkroomPipeline

/// Servers that share a tier, with one origin and one clock.
struct Cluster {
    let wall = WallClock()
    /// The instant at which servers are, however long the test takes.
    let started = ContinuousClock.now
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
    ///   - secondsAhead: the error of the server's wall clock, which the store has told it.
    ///   - learnsTime: whether the store tells it only in its first answer.
    ///   - clock: the clock of the request timeout, and of the time for which a request waits for purges.
    func node(
        disk: MemoryDisk = MemoryDisk(), readsPurges: Bool = true, logger: Logger = Logger(label: "test"),
        secondsAhead: TimeInterval = 0, learnsTime: Bool = false, clock: any Clock<Duration> = ContinuousClock(),
        instant: (@Sendable () -> ContinuousClock.Instant)? = nil
    ) async -> Node {
        let now: @Sendable () -> Date = { [wall] in wall.now + secondsAhead }
        let store = SharedStore(
            SkewedBucket(bucket, -secondsAhead, learnsTime: learnsTime), shared, logger: logger, now: now,
            instant: instant ?? { [started] in started })
        let node = Node(
            pipeline: ImagePipeline(
                configuration: PipelineConfiguration(),
                origin: SkewedOrigin(origin: origin, secondsAhead: secondsAhead),
                memory: MemoryStore(budgetBytes: 1 << 20),
                disk: disk, shared: store, processing: InProcessImageProcessor(), keyFilter: CanonicalURLFilter(),
                logger: logger, now: now, clock: clock),
            store: store, disk: disk)
        if readsPurges { await node.pipeline.carryOutPurges() }
        return node
    }
}

/// A bucket as seen by a server with a wrong clock.
private final class SkewedBucket: ObjectBucket {
    private let bucket: MemoryBucket
    private let offset: TimeInterval
    private let hasLearned: Atomic<Bool>

    init(_ bucket: MemoryBucket, _ offset: TimeInterval, learnsTime: Bool) {
        self.bucket = bucket
        self.offset = offset
        hasLearned = Atomic(!learnsTime)
    }

    /// What the server adds to its clock to get the store's time.
    var clockOffset: TimeInterval { hasLearned.load(ordering: .relaxed) ? offset : 0 }

    func read(
        _ key: String, maxBytes: Int, within limit: Duration,
        deliver: @escaping @Sendable (ByteBuffer) throws(ObjectStorageError) -> Void
    ) async throws(ObjectStorageError) -> Bool {
        try await bucket.read(key, maxBytes: maxBytes, within: limit, deliver: deliver)
    }

    func write(_ key: String, _ body: ByteBuffer, within limit: Duration) async throws(ObjectStorageError) {
        try await bucket.write(key, body, within: limit)
    }

    func delete(_ keys: [String], within limit: Duration) async throws(ObjectStorageError) {
        try await bucket.delete(keys, within: limit)
    }

    func list(
        _ prefix: String, after: String?, maxKeys: Int, within limit: Duration
    ) async throws(ObjectStorageError) -> [String] {
        defer { hasLearned.store(true, ordering: .relaxed) }
        return try await bucket.list(prefix, after: after, maxKeys: maxKeys, within: limit)
    }
}

/// An origin whose responses a server with a wrong clock dates.
private struct SkewedOrigin: OriginFetching {
    let origin: FakeOrigin
    let secondsAhead: TimeInterval

    func fetch(_ request: OriginRequest) async throws(OriginError) -> OriginResponse {
        var response = try await origin.fetch(request)
        response.requestedAt += secondsAhead
        response.receivedAt += secondsAhead
        return response
    }

    func sentFields(for request: OriginRequest) -> HTTPFields { origin.sentFields(for: request) }

    func clearOutages(ofHost host: String?) { origin.clearOutages(ofHost: host) }
}
