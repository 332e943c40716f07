import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import Foundation
import Logging

/// The parts of a pipeline, wired together.
struct PipelineParts {
    let resolver: ImageResolver
    /// The timer of the request timeout.
    let deadlines: DeadlineTimer
    let purger: Purger
    /// Nil without a shared tier.
    let follower: PurgeFollower?

    /// The budget of the records as a fraction of the memory tier's: one sixteenth.
    private static let recordsDivisor = 16

    init(
        configuration: PipelineConfiguration, origin: any OriginFetching, memory: MemoryStore,
        disk: (any Storing)?, shared: SharedStore?, processing: any ImageProcessing,
        delegate: any ImagePipelineDelegate,
        keyFilter: any CacheKeyFilter, logger: Logger, now: @escaping @Sendable () -> Date,
        clock: any Clock<Duration>, random: @escaping @Sendable () -> Double
    ) {
        deadlines = DeadlineTimer(configuration.requestTimeout, clock: clock)
        let policy = configuration.freshness
        let caches = PipelineCaches(
            memory: memory, disk: disk,
            shared: shared.map { SharedTier($0, policy: policy) },
            records: SourceRecords(
                budgetBytes: memory.budgetBytes / Self.recordsDivisor, disk: disk, suspectsDisk: shared != nil,
                policy: policy))
        let writer = CacheWriter(caches: caches)
        let failures = FailureMemory(policy: policy, random: random)
        let pixels = PixelWork(
            queue: WorkQueue(
                workers: configuration.pixelWorkers, depth: configuration.queueDepth,
                memoryBudgetBytes: configuration.memoryBudgetBytes),
            processing: processing, limits: configuration.limits, efforts: configuration.efforts)
        let fetch = OriginFetch(
            origin: origin, delegate: delegate, policy: policy, caches: caches, writer: writer, failures: failures,
            now: now)
        resolver = ImageResolver(
            caches: caches, writer: writer, failures: failures, variants: VariantLookup(caches: caches),
            originals: OriginalLookup(caches: caches),
            fetcher: SharedFetch(fetch: fetch, queue: pixels.queue, previewMaker: PreviewMaker(pixels: pixels)),
            producer: VariantProducer(
                pixels: pixels, caches: caches, writer: writer, failures: failures,
                speed: EncodingSpeed(configuration.efforts), now: now),
            background: BackgroundWork(deadlines: deadlines),
            upgrades: FormatUpgrades(configuration, deadlines: deadlines, queue: pixels.queue),
            encodingBudget: configuration.encodingBudget, now: now)
        let purger = Purger(
            origin: origin, caches: caches, failures: failures, processing: processing, policy: policy, now: now)
        self.purger = purger
        follower = caches.shared.map { shared in
            PurgeFollower(shared, caches: caches, logger: logger) { target, isSoft, order in
                _ = await purger.purge(
                    target, soft: isSoft, dryRun: false, tiers: [.memory, .disk], keyFilter: keyFilter, order: order)
            }
        }
    }
}
