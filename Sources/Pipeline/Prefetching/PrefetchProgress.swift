/// How far a prefetching job is.
public struct PrefetchProgress: Sendable {
    /// What a job is doing.
    public enum State: String, Sendable {
        /// Some pictures are still to come.
        case running
        /// Every picture is cached or has failed.
        case done
        /// It was ended before that.
        case cancelled
    }

    public var state: State
    /// Pictures asked for.
    public var total: Int
    /// Pictures that are ready, whether they were made for the job or found.
    public var done: Int
    /// Pictures that could not be had.
    public var failed: Int
    /// The encoded bytes of those that are ready.
    public var bytes: Int
    /// How long the rest will take at the pace so far; nil before the first picture, and after the end.
    public var remaining: Duration?
    /// Why pictures failed, in the order in which they did; the first ``PrefetchJob/maxFailures``.
    public var failures: [PrefetchFailure]
}

/// Why one picture of a job is not ready.
public struct PrefetchFailure: Sendable {
    /// The source, spelled canonically.
    public var url: String
    /// What the caller called the picture.
    public var label: String
    public var error: PipelineError
}

/// Why a job does not begin.
public enum PrefetchError: Error, Hashable, Sendable {
    /// It has more than ``Prefetcher/maxItems``.
    case tooManyItems
    /// ``Prefetcher/maxJobs`` are running; one of them may be done after so long.
    case tooManyJobs(retryAfterSeconds: Int)
    /// The prefetcher was shut down.
    case shutDown
}
