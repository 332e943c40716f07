public import Foundation
public import Logging
public import Origin
public import Store
public import Transforms

/// Gets pictures: downloaded, force-decoded, turned into what was asked for, and kept in two caches.
///
/// ```
///  request ──▶ keys ──▶ variant in memory? ──▶ on disk? ──▶ produce once for all who wait
///                                                             │
///                              original in memory? ──▶ on disk? ──▶ download once for all who wait
///                                                             │
///                                             pixel thread: decode ▶ chain ▶ encode
///                                                             │
///                                          original and variant to their own entries
/// ```
///
/// The façade only builds these parts and runs them in order. Safe to use from any task.
public final class ImagePipeline: Sendable {
    private let configuration: PipelineConfiguration
    private let delegate: any ImagePipelineDelegate
    private let keyFilter: any CacheKeyFilter
    private let find: FindVariant
    private let produce: ProduceVariant
    private let variants = Coalescer<EntryKey, ProduceVariant.Produced>()
    private let clock: any Clock<Duration>
    private let epoch = EncoderEpoch.current
    private let logger: Logger

    /// - Parameters:
    ///   - origin: where originals come from, for example `OriginRouter`.
    ///   - memory: the first tier, for variants and small originals.
    ///   - disk: the second tier; nil = none.
    ///   - processing: the door to pixels.
    ///   - delegate: what the user decides.
    ///   - keyFilter: which sources count as the same.
    ///   - now: the wall clock, for ages.
    ///   - clock: runs the request timeout.
    public init(
        configuration: PipelineConfiguration = PipelineConfiguration(), origin: any OriginFetching,
        memory: MemoryStore, disk: (any Storing)? = nil, processing: any ImageProcessing = InProcessImageProcessor(),
        delegate: any ImagePipelineDelegate = DefaultPipelineDelegate(),
        keyFilter: any CacheKeyFilter = CanonicalURLFilter(), logger: Logger = Logger(label: "darkroom.pipeline"),
        now: @escaping @Sendable () -> Date = { Date() }, clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.configuration = configuration
        self.delegate = delegate
        self.keyFilter = keyFilter
        self.clock = clock
        self.logger = logger
        let lifetime = OriginalLifetime(maxAge: configuration.originalMaxAge, now: now)
        let inUse = OriginalsInUse()
        find = FindVariant(memory: memory, disk: disk, lifetime: lifetime)
        produce = ProduceVariant(
            fetch: FetchOriginal(
                origin: origin, memory: memory, disk: disk, lifetime: lifetime, delegate: delegate, inUse: inUse,
                blocked: BlockedSources()),
            originals: Coalescer(), inUse: inUse,
            queue: WorkQueue(workers: configuration.pixelWorkers, depth: configuration.queueDepth),
            processing: processing, memory: memory, disk: disk, limits: configuration.limits)
    }

    /// The picture for a request, from a cache or made now. Cancelling the task gives up waiting; the work itself ends when
    /// nobody waits for it any more.
    public func image(for request: ImageRequest) async throws(PipelineError) -> ImageResponse {
        let start = ContinuousClock.now
        let chain = delegate.transforms(TransformChain(request.recipe), for: request)
        let keys = RequestKeys(
            request, chain: chain, identity: keyFilter.identity(of: request.source), epoch: epoch)
        if let found = find.inMemory(keys.variant) { return response(found, since: start) }
        return try await withDeadline(configuration.requestTimeout, clock: clock) { [self] () throws(PipelineError) in
            if let found = await find.onDisk(keys.variant) { return response(found, since: start) }
            let produced = try await produceOnce(request, chain: chain, keys: keys)
            return response(produced.value, isShared: produced.isShared, since: start)
        }
    }

    /// Ends the pixel threads after the work they have; what waits is refused with `.cancelled`.
    public func shutdown() {
        produce.queue.shutdown()
    }

    private func produceOnce(
        _ request: ImageRequest, chain: TransformChain, keys: RequestKeys
    ) async throws(PipelineError) -> (value: ProduceVariant.Produced, isShared: Bool) {
        let produce = produce
        do throws(PipelineError) {
            return try await variants.value(for: keys.variant, urgency: Urgency(request.priority)) {
                urgency throws(PipelineError) in
                try await produce(request, chain: chain, keys: keys, urgency: urgency)
            }
        } catch {
            logger.debug("no picture", metadata: ["source": "\(keys.source)", "error": "\(error)"])
            throw error
        }
    }

    private func response(_ found: FindVariant.Found, since start: ContinuousClock.Instant) -> ImageResponse {
        ImageResponse(
            body: found.body, format: found.record.format, digest: found.record.digest,
            lastModified: found.record.original.lastModified, fetchedAt: found.record.original.fetchedAt,
            cache: CacheReport(variant: found.layer), timings: Timings(total: start.duration(to: .now)))
    }

    private func response(
        _ produced: ProduceVariant.Produced, isShared: Bool, since start: ContinuousClock.Instant
    ) -> ImageResponse {
        var timings = produced.timings
        timings.total = start.duration(to: .now)
        return ImageResponse(
            body: produced.body, format: produced.record.format, digest: produced.record.digest,
            lastModified: produced.record.original.lastModified, fetchedAt: produced.record.original.fetchedAt,
            cache: CacheReport(original: produced.originalLayer, isShared: isShared), timings: timings)
    }
}
