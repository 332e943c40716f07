public import DarkroomPipeline

/// The progress of a prefetch job.
public struct PrefetchProgress: Sendable {
    /// The state of a job.
    public enum State: String, Sendable {
        /// Some items are not finished.
        case running
        /// Every item is cached or has failed.
        case done
        /// The job was canceled before that.
        case cancelled
    }

    /// What the job is doing.
    public var state: State
    /// The number of items.
    public var total: Int
    /// The number of items that are cached, by the job or before it.
    public var done: Int
    /// The number of items that failed.
    public var failed: Int
    /// The size in bytes of the images that are cached.
    public var bytes: Int
    /// The estimated time until the job is done; nil before the first item is finished, and after the end.
    public var remaining: Duration?
    /// The first ``PrefetchJob/maxFailures`` failures, in the order in which they occurred.
    public var failures: [PrefetchFailure]
}

/// The failure of one item of a job.
public struct PrefetchFailure: Sendable {
    /// The canonical address of the source.
    public var url: String
    /// The label of the item.
    public var label: String
    /// Why the item failed.
    public var error: PipelineError
}

/// Why a job is not accepted.
public enum PrefetchError: Error, Hashable, Sendable {
    /// The job has more than ``Prefetcher/maxItems`` items.
    case tooManyItems
    /// ``Prefetcher/maxJobs`` jobs are running; a job may end after the delay.
    case tooManyJobs(retryAfterSeconds: Int)
    case shutDown
}
