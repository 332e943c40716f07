import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import Foundation
import HTTPTypes
import Logging
import NIOCore

@testable import DarkroomCache
@testable import DarkroomObjectStorage
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

    /// Servers whose image has the tag `shoes`.
    static func tagged(_ control: String, gate: Gate? = nil) throws -> Cluster {
        var fields = HTTPFields.control(control, etag: "a")
        fields[.surrogateKey] = "shoes"
        return try Cluster(fields, gate: gate)
    }

    /// A target of each kind that concerns the tagged image.
    static let targets: [PurgeTarget] = [
        .source(.example), .prefix("http://example.com/"), .host("example.com"), .tag("shoes"), .everything,
    ]

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
    ///   - learnsTime: whether the store tells it only in its answers, in whole seconds.
    ///   - clock: the clock of the request timeout, and of the time for which a request waits for purges.
    func node(
        disk: MemoryDisk = MemoryDisk(), readsPurges: Bool = true, logger: Logger = Logger(label: "test"),
        secondsAhead: TimeInterval = 0, learnsTime: Bool = false, clock: any Clock<Duration> = ContinuousClock(),
        instant: (@Sendable () -> ContinuousClock.Instant)? = nil
    ) async -> Node {
        let now: @Sendable () -> Date = { [wall] in wall.now + secondsAhead }
        let store = SharedStore(
            SkewedBucket(bucket, wall, now, knowsTime: !learnsTime), shared, logger: logger, now: now,
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

/// A bucket as seen by a server with a wrong clock, which corrects it by the dates of the answers.
private final class SkewedBucket: ObjectBucket {
    private let bucket: MemoryBucket
    private let wall: WallClock
    private let clock: StoreClock

    init(_ bucket: MemoryBucket, _ wall: WallClock, _ now: @escaping @Sendable () -> Date, knowsTime: Bool) {
        (self.bucket, self.wall, clock) = (bucket, wall, StoreClock(now))
        if knowsTime { clock.correct(to: wall.now) }
    }

    var clockOffset: TimeInterval { clock.correction }

    private func follow() {
        let seconds = wall.now.timeIntervalSince1970.rounded(.down)
        clock.follow(Date(timeIntervalSince1970: seconds), sentAt: clock.uncorrected)
    }

    func read(
        _ key: String, maxBytes: Int, within limit: Duration,
        deliver: @escaping @Sendable (ByteBuffer) throws(ObjectStorageError) -> Void
    ) async throws(ObjectStorageError) -> Bool {
        let isThere = try await bucket.read(key, maxBytes: maxBytes, within: limit, deliver: deliver)
        if isThere { follow() }
        return isThere
    }

    func write(_ key: String, _ body: ByteBuffer, within limit: Duration) async throws(ObjectStorageError) {
        try await bucket.write(key, body, within: limit)
        follow()
    }

    func delete(_ keys: [String], within limit: Duration) async throws(ObjectStorageError) {
        try await bucket.delete(keys, within: limit)
        follow()
    }

    func list(
        _ prefix: String, after: String?, maxKeys: Int, within limit: Duration
    ) async throws(ObjectStorageError) -> [String] {
        let names = try await bucket.list(prefix, after: after, maxKeys: maxKeys, within: limit)
        follow()
        return names
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
