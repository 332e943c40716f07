import DarkroomHTTPCaching
import DarkroomOrigin
import DarkroomStore
import DarkroomTransforms
import Foundation

/// The steps of a pipeline, put together.
struct PipelineParts {
    let answer: AnswerImage
    let purger: Purger

    /// What is known of sources, as a part of the memory tier's budget.
    private static let recordsShare = 16

    init(
        configuration: PipelineConfiguration, origin: any OriginFetching, memory: MemoryStore,
        disk: (any Storing)?, processing: any ImageProcessing, delegate: any ImagePipelineDelegate,
        now: @escaping @Sendable () -> Date, clock: any Clock<Duration>, random: @escaping @Sendable () -> Double
    ) {
        let policy = configuration.freshness
        let records = SourceRecords(
            budgetBytes: memory.budgetBytes / Self.recordsShare, disk: disk, policy: policy)
        let keep = KeepResults(
            memory: memory, disk: disk, records: records, generations: Generations(),
            inUse: OriginalsInUse())
        let failures = FailureMemory(policy: policy, random: random)
        let queue = WorkQueue(
            workers: configuration.pixelWorkers, depth: configuration.queueDepth,
            memoryBudgetBytes: configuration.memoryBudgetBytes)
        answer = AnswerImage(
            origin: origin, delegate: delegate, keep: keep, failures: failures,
            find: FindVariant(keep: keep), load: LoadOriginal(keep: keep),
            ask: AskOrigin(
                origin: origin, delegate: delegate, policy: policy, keep: keep, failures: failures,
                now: now),
            produce: ProduceVariant(
                queue: queue, processing: processing, keep: keep, failures: failures, limits: configuration.limits,
                productions: Coalescer(), now: now),
            makePreview: MakePreview(
                queue: queue, processing: processing, limits: configuration.limits, previews: Coalescer()),
            asks: Coalescer(),
            background: BackgroundWork(timeout: configuration.requestTimeout, clock: clock), now: now)
        purger = Purger(
            origin: origin, keep: keep, failures: failures, processing: processing, policy: policy, now: now)
    }
}
