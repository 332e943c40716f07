import DarkroomHTTPCaching
import DarkroomNetwork
import DarkroomOrigin
import DarkroomRequests
import DarkroomStore
import DarkroomTransforms
import DarkroomVips
import Dispatch
import Foundation
import HTTPTypes
import NIOCore
import Synchronization

@testable import DarkroomCache
@testable import DarkroomPipeline

/// A pipeline whose surroundings the test controls.
struct Bench {
    let wall = WallClock()
    let origin: FakeOrigin
    let disk = MemoryDisk()
    let memory: MemoryStore
    let processing = CountingProcessor()
    let pipeline: ImagePipeline

    /// - Parameters:
    ///   - fields: the origin's response fields for its only image, which is red.
    ///   - random: the position of each jitter in its range.
    ///   - clock: the clock of the request timeout.
    init(
        _ fields: HTTPFields = [:], gate: Gate? = nil, freshness: FreshnessPolicy = FreshnessPolicy(),
        delegate: any ImagePipelineDelegate = DefaultPipelineDelegate(),
        keyFilter: any CacheKeyFilter = CanonicalURLFilter(), memoryBytes: Int = 1 << 20, random: Double = 0.5,
        clock: any Clock<Duration> = ContinuousClock(), encodingBudget: Duration = .milliseconds(150),
        limits: PixelLimits = PixelLimits()
    ) throws {
        let wall = wall
        memory = MemoryStore(budgetBytes: memoryBytes)
        origin = FakeOrigin(try Pictures.red.get(), fields, gate: gate, wall: wall)
        pipeline = ImagePipeline(
            configuration: PipelineConfiguration(
                limits: limits, freshness: freshness, encodingBudget: encodingBudget),
            origin: origin, memory: memory, disk: disk, processing: processing, delegate: delegate,
            keyFilter: keyFilter, now: { wall.now }, clock: clock, random: { random })
    }

    /// Returns once no original is in use, so that the next request does not share it.
    func settle() async { await origin.released() }

    func request(
        _ url: String = "http://example.com/a.png", width: Int = 20, mode: CacheMode = .default,
        directives: HTTPFields = [:], allowsForcedRefresh: Bool = true, store: TierSelection = .all
    ) throws -> ImageRequest {
        var recipe = Recipe()
        recipe.box = Box(width: width, height: nil)
        let demand = RequestCachePolicy(
            mode: mode, directives: RequestDirectives(directives), allowsForcedRefresh: allowsForcedRefresh)
        return try ImageRequest(url: url, recipe: recipe, cache: CacheOptions(policy: demand, store: store))
    }

    /// Requests an image.
    @discardableResult
    func ask(
        _ url: String = "http://example.com/a.png", width: Int = 20, mode: CacheMode = .default,
        directives: HTTPFields = [:], allowsForcedRefresh: Bool = true, store: TierSelection = .all
    ) async throws -> ImageResponse {
        try await pipeline.image(
            for: request(
                url, width: width, mode: mode, directives: directives, allowsForcedRefresh: allowsForcedRefresh,
                store: store))
    }

    /// The error of a request that fails.
    func failure(_ url: String = "http://example.com/a.png", mode: CacheMode = .default) async throws -> PipelineError?
    {
        let request = try request(url, mode: mode)
        do throws(PipelineError) {
            _ = try await pipeline.image(for: request)
            return nil
        } catch {
            return error
        }
    }
}

/// The real processor with a counter. It can be blocked, and made to fail for a page.
final class CountingProcessor: ImageProcessing {
    let runs = Counter()
    private let seen = Watched<[ImageJob]>([])
    private let dropped = Mutex<[String]>([])
    private let damagedPage = Mutex<Int?>(nil)
    private let held = Mutex<DispatchSemaphore?>(nil)
    private let heldFormat = Mutex<(format: OutputFormat, signal: DispatchSemaphore)?>(nil)

    var jobs: [ImageJob] { seen.value }

    /// Returns once a job with this output format has begun.
    func begins(_ format: OutputFormat) async { await seen.wait { $0.contains { $0.output.format == format } } }

    /// The identities that were dropped.
    var forgotten: [String] { dropped.withLock { $0 } }

    func removeDecoded(identity: String) { dropped.withLock { $0.append(identity) } }

    /// Makes jobs that start with this page fail from now on.
    func damage(page: Int) { damagedPage.withLock { $0 = page } }

    /// Blocks jobs with this output format until the returned function is called.
    func hold(_ format: OutputFormat) -> @Sendable () -> Void {
        let signal = DispatchSemaphore(value: 0)
        heldFormat.withLock { $0 = (format, signal) }
        return { [self] in
            heldFormat.withLock { $0 = nil }
            signal.signal()
        }
    }

    /// Blocks the next job until the returned function is called.
    func holdNext() -> @Sendable () -> Void {
        let signal = DispatchSemaphore(value: 0)
        held.withLock { $0 = signal }
        return { signal.signal() }
    }

    func process(_ job: ImageJob, interrupt: @escaping Interrupt) throws(ImageProcessingError) -> ProcessedImage {
        let signal = held.withLock { held in
            defer { held = nil }
            return held
        }
        seen.change { $0.append(job) }
        runs.add()
        signal?.wait()
        if let (format, signal) = heldFormat.withLock(\.self), format == job.output.format {
            signal.wait()
            signal.signal()
        }
        if damagedPage.withLock(\.self) == job.pages.first { throw .corrupt("a page") }
        return try InProcessImageProcessor().process(job, interrupt: interrupt)
    }
}

extension HTTPFields {
    /// `Cache-Control` and an optional entity tag.
    static func control(_ value: String, etag: String? = nil) -> HTTPFields {
        var fields: HTTPFields = [.cacheControl: value]
        if let etag { fields[.eTag] = "\"\(etag)\"" }
        return fields
    }
}

extension SourceURL {
    /// The default source of a bench.
    static var example: SourceURL {
        guard let url = try? SourceURL(parsing: "http://example.com/a.png") else { preconditionFailure("an address") }
        return url
    }
}

extension ImagePipeline {
    /// The image if it is answered without waiting.
    func imageNow(_ lookup: ImageLookup) -> ImageResponse? {
        if case .found(let image) = ask(lookup, client: "", priority: .normal) { image } else { nil }
    }

    /// The failure of a request if it is known without waiting.
    func failureNow(of request: ImageRequest) -> PipelineError? {
        if case .failed(let error) = ask(lookup(for: request), client: "", priority: .normal) { error } else { nil }
    }
}
