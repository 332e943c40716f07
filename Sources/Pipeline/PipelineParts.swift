import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import Foundation

/// The parts of a pipeline, wired together.
struct PipelineParts {
    let resolver: ImageResolver
    /// The timer of the request timeout.
    let deadlines: DeadlineTimer
    let purger: Purger

    /// The budget of the records as a fraction of the memory tier's: one sixteenth.
    private static let recordsDivisor = 16

    init(
        configuration: PipelineConfiguration, origin: any OriginFetching, memory: MemoryStore,
        disk: (any Storing)?, processing: any ImageProcessing, delegate: any ImagePipelineDelegate,
        now: @escaping @Sendable () -> Date, clock: any Clock<Duration>, random: @escaping @Sendable () -> Double
    ) {
        deadlines = DeadlineTimer(configuration.requestTimeout, clock: clock)
        let policy = configuration.freshness
        let caches = PipelineCaches(
            memory: memory, disk: disk,
            records: SourceRecords(budgetBytes: memory.budgetBytes / Self.recordsDivisor, disk: disk, policy: policy))
        let writer = CacheWriter(caches: caches)
        let failures = FailureMemory(policy: policy, random: random)
        let pixels = PixelWork(
            queue: WorkQueue(
                workers: configuration.pixelWorkers, depth: configuration.queueDepth,
                memoryBudgetBytes: configuration.memoryBudgetBytes),
            processing: processing, limits: configuration.limits)
        let fetch = OriginFetch(
            origin: origin, delegate: delegate, policy: policy, caches: caches, writer: writer, failures: failures,
            now: now)
        resolver = ImageResolver(
            caches: caches, writer: writer, failures: failures, variants: VariantLookup(caches: caches),
            originals: OriginalLookup(caches: caches),
            fetcher: SharedFetch(fetch: fetch, queue: pixels.queue, previewMaker: PreviewMaker(pixels: pixels)),
            producer: VariantProducer(
                pixels: pixels, caches: caches, writer: writer, failures: failures, now: now),
            background: BackgroundWork(deadlines: deadlines), now: now)
        purger = Purger(
            origin: origin, caches: caches, failures: failures, processing: processing, policy: policy, now: now)
    }
}
